import { isMapping } from '../input/schema-walk.ts';
import type { Path } from '../input/yaml.ts';

/**
 * What to do about a value of `oncehook.yaml` that does not fit, where that is more than to correct it. The value
 * itself never stands in the answer, for it may be a secret. Undefined where nothing better can be said.
 */
export function configHint(path: Path, given: unknown): string | undefined {
  const [top, name, setting] = path;
  if (path.length === 1) {
    if (top === 'database') return variableInstead('ONCEHOOK_DATABASE_URL', 'address');
    if (top === 'n8n_password') return variableInstead('ONCEHOOK_N8N_PASSWORD', 'password');
    return isMisplacedSource(top, given) ? 'Indent it under `sources:`.' : undefined;
  }
  if (top !== 'sources' || path.length < 3) return undefined;
  if (setting === 'secrets') return secretsHint(String(name), path.length, given);
  if (setting === 'path' && typeof given === 'string' && /^\/|\bwebhook(-test)?\/|:\/\//.test(given)) {
    return 'Leave out the leading slash and `webhook/`: n8n adds both. Write only what follows `/webhook/`.';
  }
  if (['lease', 'retention', 'tolerance'].includes(String(setting)) && typeof given === 'number') {
    return 'Add a unit, as in 15m: s, m, h or d.';
  }
  return undefined;
}

/** True for an unknown setting beside `sources` that looks like one of them, less indented than it should be. */
export function isMisplacedSource(key: PropertyKey | undefined, value: unknown): boolean {
  return key !== 'sources' && isMapping(value) && Object.hasOwn(value, 'provider');
}

function variableInstead(variable: string, what: string): string {
  return (
    `Put the ${what} into the environment (export ${variable}=…) and leave this setting out, or write the name ` +
    `of the variable that holds it. If this file was shared, change the password.`
  );
}

function secretsHint(source: string, depth: number, given: unknown): string {
  if (depth === 3 && typeof given === 'string') {
    return 'Write `secrets: [NAME]`, where NAME is the environment variable that holds the secret.';
  }
  const plain = /^[a-z][a-z0-9-]{0,19}$/.test(source) ? source : 'shop';
  const variable = `${plain.toUpperCase().replaceAll('-', '_')}_WEBHOOK_SECRET`;
  return (
    `Put the secret into the environment (export ${variable}=…) and write \`secrets: [${variable}]\`. ` +
    'If this file was shared with the secret in it, replace the secret at the sender.'
  );
}
