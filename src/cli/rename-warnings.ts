import { type Rename, renameWarning } from '../config/renames.ts';
import type { Output } from './output.ts';

/** Warns of what may be renames without an id, and gives the warnings for `--json`. */
export function warnOfRenames(renames: readonly Rename[], out: Output): string[] {
  const warnings = renames.map(renameWarning);
  for (const warning of warnings) out.note(`Warning: ${warning}`);
  return warnings;
}
