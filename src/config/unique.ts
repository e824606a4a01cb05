import type { Issue } from '../errors.ts';
import { printable } from '../input/suggest.ts';
import type { YamlFile } from '../input/yaml.ts';

/**
 * An issue for every source whose path or id another source above it already has. Works on the raw value, which
 * may be anything: whatever is not as expected is the schema's to report.
 */
export function sharedValues(yaml: YamlFile): Issue[] {
  const sources = record(record(yaml.value)['sources']);
  return (['id', 'path'] as const).flatMap((field) => {
    const taken = new Map<string, string>();
    return Object.entries(sources).flatMap(([name, source]): Issue[] => {
      const own = record(source)[field];
      const value = own === undefined ? name : own;
      if (typeof value !== 'string') return [];
      const other = taken.get(value);
      if (other === undefined) {
        taken.set(value, name);
        return [];
      }
      const path = own === undefined ? ['sources', name] : ['sources', name, field];
      return [
        {
          ...(own === undefined ? yaml.locateKey(path) : yaml.locate(path)),
          path: path.map(printable).join('.'),
          message: `The source ${printable(other)} already has this ${field}.`,
          expected: `one ${field} for one source`,
          remedy: `Set ${field} to another value here.`,
        },
      ];
    });
  });
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
