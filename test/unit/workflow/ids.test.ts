import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idsFor } from '../../../src/workflow/ids.ts';

const word = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,39}$/);

describe('ids', () => {
  test('are the same on every run', () => {
    const ids = idsFor('shop', 'stripe');
    // Fixed here for ever: another value would double every published workflow.
    expect(ids.workflow).toBe('Pa4kcIiK2CFHSQhb');
    expect(ids.of('webhook-url')).toBe('d0c8a88e-0400-8756-87ee-4aa32c9364e4');
  });

  test('have the shapes that n8n gives its own', () => {
    fc.assert(
      fc.property(word, word, fc.string(), (project, source, role) => {
        const ids = idsFor(project, source);
        expect(ids.workflow).toMatch(/^[0-9A-Za-z]{16}$/);
        expect(ids.of(role)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }),
    );
  });

  test('differ where project, source or role differ, wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(word, word, word), { minLength: 2, selector: String }), (parts) => {
        const nodes = parts.map(([project, source, role]) => idsFor(project, source).of(role));
        expect(new Set(nodes).size).toBe(parts.length);
      }),
    );
    expect(idsFor('a', 'b-c').workflow).not.toBe(idsFor('a-b', 'c').workflow);
  });
});
