import type { SourceConfig } from '../config/load.ts';
import { oneOf } from '../input/schema-issues.ts';
import { signedSettings } from '../providers/compile.ts';
import type { Provider } from '../providers/schema.ts';
import type { Signature } from '../providers/signature.ts';
import type { Report } from './resolve-checks.ts';

/** A source gives every setting that its provider's file, or a signature of its own, asks for, and no other. */
export function checkSettings(
  source: SourceConfig,
  provider: Provider,
  signature: Signature,
  report: Report,
): void {
  const known = [...new Set([...Object.keys(provider.settings), ...signedSettings(signature)])];
  for (const name of known) {
    if (Object.hasOwn(source.settings, name)) continue;
    const { describe, example } = provider.settings[name] ?? {};
    report.issue(['settings', name], {
      message: `The setting ${name} is missing.`,
      expected: describe ?? 'the value that the signature covers under this name',
      remedy: `Add for example: settings: { ${name}: ${JSON.stringify(example ?? '…')} }`,
    });
  }
  for (const name of Object.keys(source.settings)) {
    if (known.includes(name)) continue;
    report.issue(['settings', name], {
      message: `${provider.name} has no setting of this name.`,
      ...(known.length > 0 ? oneOf(name, known) : { expected: 'no settings here', remedy: 'Remove it.' }),
    });
  }
}
