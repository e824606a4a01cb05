import type { Workflow } from '../../workflow/types.ts';
import type { Stamp } from '../stamp.ts';
import { shown } from './shown.ts';
import { threeWay } from './three-way.ts';
import type { Conflict, LooseWorkflow, MergeReport } from './types.ts';

/** n8n's setting for an error workflow: another one takes the place of the generated failure mark. */
const ERROR_WORKFLOW = 'errorWorkflow';

/**
 * Our settings, with the user's. Nothing that matters depends on one, so where nobody knows who changed it, or both
 * did and `force` is not given, the user's is kept or told. What n8n dropped comes back.
 */
export function mergeSettings(
  base: Stamp | undefined,
  mine: LooseWorkflow,
  ours: Workflow,
  force: boolean,
  report: MergeReport,
): { settings: LooseWorkflow['settings']; conflicts: Conflict[] } {
  const dropped = Object.keys(ours.settings).filter((key) => mine.settings[key] === undefined);
  const back = Object.fromEntries(dropped.map((key) => [key, ours.settings[key] ?? null]));
  const theirs = { ...mine.settings, ...back };
  if (typeof theirs[ERROR_WORKFLOW] === 'string' && theirs[ERROR_WORKFLOW] !== (mine.id ?? ours.id)) {
    report.warnings.push(
      "The settings name another error workflow: n8n runs that one in place of this one's failure mark, so an event whose run failed waits until its lease ends before it runs again.",
    );
  }
  if (!base) {
    const kept = Object.keys(theirs).filter(
      (key) => JSON.stringify(theirs[key]) !== JSON.stringify(ours.settings[key]),
    );
    report.kept.push(...kept.map((key) => `settings.${key}`));
    return { settings: { ...ours.settings, ...theirs }, conflicts: [] };
  }
  const { value, clashes, kept } = threeWay(
    { base: base.settings, sure: true },
    theirs,
    theirs,
    ours.settings,
  );
  report.kept.push(...kept.filter((path) => !dropped.includes(path)).map((path) => `settings.${path}`));
  const conflicts = clashes
    .filter(({ path }) => !dropped.includes(path))
    .map(({ path, ...sides }) => ({
      node: '',
      parameter: `settings.${path}`,
      ...shown(sides.mine, sides.ours),
      reason: 'you and the generator changed it since the last generation',
    }));
  return { settings: force || conflicts.length === 0 ? value : theirs, conflicts };
}
