import * as pulumi from '@pulumi/pulumi';

/** Stack configuration as it came, with numbers, truth values and structures in place of their text. */
export interface RawSettings {
  values: Record<string, unknown>;
  /** The keys whose values are not encrypted. */
  open: string[];
  /** Where people find it. */
  file: string;
}

/** Pulumi's runtime knows which keys are secret; its types leave that out. */
const runtime = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

/**
 * Reads every setting of this project's namespace. What cannot be read as its kind stays the text that it was, and
 * an empty text, which `pulumi new` leaves for a question without an answer, is no value.
 */
export function rawSettings(kinds: {
  json: readonly string[];
  number: readonly string[];
  boolean: readonly string[];
}): RawSettings {
  const prefix = `${pulumi.getProject()}:`;
  const entries = Object.entries(pulumi.runtime.allConfig())
    .filter(([key, text]) => key.startsWith(prefix) && text !== '')
    .map(([key, text]): [string, string] => [key.slice(prefix.length), text]);
  const read = (key: string, text: string): unknown => {
    if (kinds.json.includes(key)) return parsed(text);
    if (kinds.number.includes(key) && /^-?\d{1,15}$/.test(text)) return Number(text);
    if (kinds.boolean.includes(key) && /^(true|false)$/.test(text)) return text === 'true';
    return text;
  };
  return {
    values: Object.fromEntries(entries.map(([key, text]) => [key, read(key, text)])),
    open: entries.map(([key]) => key).filter((key) => !runtime.isConfigSecret(prefix + key)),
    file: `Pulumi.${pulumi.getStack()}.yaml`,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
