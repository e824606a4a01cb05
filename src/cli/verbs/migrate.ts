import type { MigrationPlan } from '../../ledger/migrate.ts';
import type { SourceChange } from '../../ledger/sources.ts';
import { loadContext } from '../context.ts';
import { findDatabase } from '../database.ts';
import { invocation } from '../invocation.ts';
import { type CommonOptions, common, type DatabaseOptions, onDatabase } from '../options.ts';
import { processOutput } from '../output.ts';
import { withProgress } from '../progress.ts';
import { warnOfRenames } from '../rename-warnings.ts';
import type { Verb } from '../verbs.ts';

interface Options extends CommonOptions, DatabaseOptions {
  plan?: boolean;
}

/** `oncehook migrate`: schema, n8n's role, sources; `--plan` only says what would be done. */
const migrateVerb: Verb = (command) => {
  onDatabase(common(command, 'migrate', 'migrate --plan'))
    .option('--plan', 'change nothing; say what would be done')
    .action(async ({ json = false, config, plan = false, ...choice }: Options) => {
      const context = await loadContext(config);
      const target = await findDatabase(context, choice);
      const out = processOutput(json);
      const { planRollout, rollOut } = await import('../../ledger/rollout.ts');
      if (plan) {
        const planned = await planRollout(target, context.sources);
        const warnings = warnOfRenames(planned.renames, out);
        out.result({ ok: true, database: target.name, plan: true, ...planned, warnings }, () =>
          [
            `Nothing was changed in ${target.name}. To be done:`,
            ...schemaLines(planned.migrations, 'would run'),
            ...sourceLines(planned.sources, 'would be'),
            ...secretLines(planned.withoutSecret),
          ].join('\n'),
        );
        return;
      }
      const password = target.keepsPassword ? undefined : process.env[context.config.n8nPassword];
      const setting = context.config.n8nPassword;
      const done = await withProgress('Migrating', () =>
        rollOut(target, context.sources, { password, setting }),
      );
      const warnings = warnOfRenames(done.renames, out);
      out.result({ ok: true, database: target.name, ...done, warnings }, () =>
        [
          `Done in ${target.name}:`,
          ...schemaLines(done.migrations, 'ran'),
          roleLine(done.role),
          ...sourceLines(done.sources, 'was'),
          ...secretLines(done.withoutSecret),
        ].join('\n'),
      );
      if (done.role.created && !done.role.passwordSet) {
        out.note(`The role oncehook_n8n has no password yet: set ${setting} and run this command again.`);
      }
    });
};
export default migrateVerb;

function schemaLines({ applied, pending }: MigrationPlan, verb: string): string[] {
  if (pending.length === 0) return [`  schema: up to date (${applied.at(-1) ?? 'empty'})`];
  return pending.map((name) => `  schema: ${name} ${verb}`);
}

function roleLine({
  created,
  settings,
  passwordSet,
}: {
  created: boolean;
  settings: string[];
  passwordSet: boolean;
}): string {
  const changes = [
    created ? 'made' : 'there already',
    ...(settings.length > 0 ? [`set ${settings.join(', ')}`] : []),
    ...(passwordSet ? ['password set'] : []),
  ];
  return `  role oncehook_n8n: ${changes.join(', ')}, rights granted`;
}

function sourceLines(changes: SourceChange[] | null, verb: string): string[] {
  if (changes === null) return ['  sources: would be compared once the schema is up to date'];
  if (changes.length === 0) return ['  sources: as they should be'];
  return changes.map(({ id, change, fields }) => {
    const what = change === 'updated' ? ` (${fields.join(', ')})` : '';
    return `  source ${id}: ${verb} ${change}${what}`;
  });
}

function secretLines(ids: string[]): string[] {
  return ids.map(
    (id) =>
      `  source ${id}: no signing secret is stored, so that every delivery is rejected. Run: ${invocation()} secrets add ${id}`,
  );
}
