import type { SourceConfig } from '../config/load.ts';
import type { Issue } from '../errors.ts';
import { durationSeconds, formatDuration } from '../input/duration.ts';
import { showPath } from '../input/schema-issues.ts';
import type { Path, YamlFile } from '../input/yaml.ts';
import { parseRecipe } from '../providers/recipe.ts';
import type { Provider } from '../providers/schema.ts';
import type { Signature } from '../providers/signature.ts';

/** How the checks of one source tell what they found. */
export interface Report {
  /** An issue at a path below the source. */
  issue(path: Path, found: Issue): void;
  /** Issues that carry their place already. */
  add(found: Issue[]): void;
  /** The configuration's places. */
  at: Omit<YamlFile, 'value'>;
  /** The source's own path. */
  prefix: Path;
}

/** Each recipe of the source, every malformed line at its own line of the file. */
export function checkRecipes(source: SourceConfig, report: Report): void {
  for (const field of ['key', 'type', 'object'] as const) {
    const text = source[field];
    if (text === undefined) continue;
    const path = [...report.prefix, field];
    report.add(
      parseRecipe(text).issues.map(({ message, line, column }) => ({
        ...report.at.locateText(path, line, column),
        path: showPath(path),
        message: `The recipe is not valid: ${message}.`,
        expected: 'text with placeholders such as {body.id} or {header.x-event-id}; one alternative a line',
        remedy: 'Correct this line of the recipe.',
      })),
    );
  }
}

/** An event that is forgotten while its sender may still send it again would take effect twice. */
export function checkRetention(source: SourceConfig, provider: Provider, report: Report): void {
  const { window, resend } = provider.retry;
  const spans = [
    { span: window, why: `${provider.name} goes on trying for ${window}` },
    { span: resend, why: `${provider.name} lets people send an event again for ${resend}` },
  ].map(({ span, why }) => ({ seconds: span === null ? 0 : (durationSeconds(span) ?? 0), why }));
  const longest = spans.reduce((a, b) => (b.seconds > a.seconds ? b : a));
  if (source.retentionDays * 86_400 >= longest.seconds) return;
  report.issue(['retention'], {
    message: `The retention is too short: ${longest.why}, and a forgotten event would take effect again.`,
    expected: `at least ${formatDuration(longest.seconds)}`,
    remedy: 'Raise it, or leave it out.',
  });
}

/** A tolerance needs a signed time to compare with. */
export function checkTolerance(source: SourceConfig, signature: Signature, report: Report): void {
  if (source.toleranceSeconds === undefined) return;
  if ('timestamp' in signature && signature.timestamp) return;
  report.issue(['tolerance'], {
    message: 'The signature of this source holds no time that a tolerance could apply to.',
    expected: 'no tolerance here',
    remedy: 'Remove it.',
  });
}

/** A decision needs a question, and a guard an id that could be changed unseen. */
export function checkExchange(source: SourceConfig, provider: Provider, report: Report): void {
  if (source.decide && provider.questions.length === 0)
    report.issue(['decide'], {
      message: `${provider.name} asks no questions that nodes of yours could answer.`,
      expected: 'no decision here',
      remedy: 'Remove it.',
    });
  if (source.guard && (provider.items !== undefined || provider.fetch !== undefined))
    report.issue(['guard'], {
      message: `The ids of ${provider.name} stand in what it sends, so that there is nothing to guard.`,
      expected: 'no guard here',
      remedy: 'Remove it.',
    });
}

/** `body."a.b".0` as `["a.b", "0"]`. */
export function volatilePaths(paths: readonly string[]): string[][] {
  return paths.map((path) =>
    [...path.matchAll(/\.(?:"([^"]+)"|([^\s."{}]+))/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
  );
}
