import { describe, expect, it } from 'vitest';
import { configJsonSchema, configSchema } from '../../../src/config/schema.ts';

interface Node {
  $schema?: string;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  description?: string;
  required?: string[];
}

describe('the JSON Schema', () => {
  const schema = configJsonSchema() as Node;
  const sources = schema.properties?.['sources'];
  const source = sources?.additionalProperties as Node;

  it('is one that editors read, and survives JSON', () => {
    expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#');
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });

  it('asks for what has no default, and for nothing else', () => {
    expect(schema.required).toEqual(['project', 'sources']);
    expect(source.required).toEqual(['provider']);
    expect(schema.additionalProperties).toBe(false);
    expect(source.additionalProperties).toBe(false);
  });

  it('describes every setting', () => {
    expect(Object.keys(schema.properties ?? {})).toEqual(Object.keys(configSchema.shape));
    for (const node of [
      ...Object.values(schema.properties ?? {}),
      ...Object.values(source.properties ?? {}),
    ]) {
      expect(node.description).toEqual(expect.any(String));
    }
  });
});
