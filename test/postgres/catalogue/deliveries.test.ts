import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import type { Outcome } from '../../../src/providers/schema.ts';
import { filled, leaves, lookedInto } from '../../catalogue/bodies.ts';
import { ownPlaces } from '../../catalogue/places.ts';
import { evaluate } from '../../catalogue/recipes.ts';
import { delivery, type Request, secretOf, signed, sourceOf } from '../../catalogue/requests.ts';
import { type Gate, openGate } from '../harness/gate.ts';
import { type Answer, deliver, fail } from '../harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const single = listProviders().filter((slug) => {
  const { items, fetch } = loadProvider(slug);
  return items === undefined && fetch === undefined;
});

describe.each(single)('deliveries of %s', (slug) => {
  // Under another id a body is another event here; what a guard says of it is another test.
  const source = sourceOf(slug, loadProvider(slug).guard ? ['guard: false'] : []);
  const { providerFile: provider, signature } = source;
  const types = Object.keys(provider.samples);
  const [first = ''] = types;
  const own = ownPlaces(source);
  const open = signature.scheme === 'none';

  beforeAll(async () => {
    await gate.addSource(slug, source, open ? [] : [secretOf(source)]);
  });

  const send = (request: Request, execution = '1', id = slug) =>
    deliver(gate.n8n, { source: id, ...request, execution });

  /** What of an answer the file decides, or leaves to the gate. */
  const heard = ({ outcome, code, answer, content_type }: Answer, request: Request) => {
    const own = provider.answers[outcome as keyof typeof provider.answers];
    const given = {
      outcome,
      code,
      ...(own?.body === undefined ? {} : { answer }),
      ...(own?.content_type ? { content_type } : {}),
    };
    const due = {
      outcome,
      code: own?.status ?? (outcome === 'rejected' ? 401 : 200),
      ...(own?.body === undefined ? {} : { answer: filled(own.body, request) }),
      ...(own?.content_type ? { content_type: own.content_type } : {}),
    };
    return { given, due };
  };
  const expectHeard = (answer: Answer, request: Request, outcome: Outcome) => {
    const { given, due } = heard(answer, request);
    expect(given).toEqual({ ...due, outcome });
  };

  test.each(types)(
    '%s is new once, under the key and the type of its recipes, and a duplicate from then on',
    async (type) => {
      const request = delivery(source, type, `once ${type}`);
      const looked = lookedInto(request);
      const fresh = await send(request);
      expectHeard(fresh, request, 'new');
      expect(fresh.key?.replace(/\\(.)/g, '$1')).toBe(`${slug}:${evaluate(provider.key, looked)}`);
      const names = { type: provider.type, object_id: provider.object };
      for (const [column, recipe] of Object.entries(names))
        if (recipe)
          expect(String(fresh[column as keyof Answer]).replace(/\\(.)/g, '$1')).toBe(
            evaluate(recipe, looked),
          );
      expectHeard(await send(request), request, 'duplicate');
      // As a retry is signed anew.
      expectHeard(await send(delivery(source, type, `once ${type}`)), request, 'duplicate');
    },
  );

  test('each sample is another event', async () => {
    const keys: (string | null)[] = [];
    for (const type of types) keys.push((await send(delivery(source, type, `another ${type}`))).key);
    expect(new Set(keys).size).toBe(types.length);
    expect(keys).not.toContain(null);
  });

  test('an event whose work failed is taken again', async () => {
    const request = delivery(source, first, 'failed');
    expect((await send(request, '17')).outcome).toBe('new');
    await fail(gate.n8n, slug, { execution: '17' });
    expectHeard(await send(request, '18'), request, 'reclaimed');
  });

  test('another body under a key that is taken is a mismatch, but for what changes between deliveries', async () => {
    const request = delivery(source, first, 'mismatch');
    const before = await send(request);
    const keyOf = (one: Request) => evaluate(provider.key, lookedInto(one));
    const changes = leaves(request).filter(
      ({ path, changed }) => !own.body(path) && keyOf(changed) === keyOf(request),
    );
    for (const { path, changed } of changes) {
      const again = signedOr(changed);
      if (!again) continue;
      const answer = await send(again);
      const free = source.volatile.some((steps) => steps.every((step, index) => step === path[index]));
      expect([path, answer.outcome, answer.key]).toEqual([path, free ? 'duplicate' : 'mismatch', before.key]);
      expectHeard(answer, again, free ? 'duplicate' : 'mismatch');
    }
  });

  test('what names no event is kept and answered, and is no event', async () => {
    const bare = { body: Buffer.from('{}'), headers: { 'content-type': 'application/json' }, query: {} };
    const request = signedOr(bare);
    if (!request || evaluate(provider.key, lookedInto(request)) !== undefined) return;
    expectHeard(await send(request), request, 'unkeyed');
  });

  test.skipIf(open)('a wrong secret, and a source without one, are refused', async () => {
    const request = delivery(source, first, 'forged', { secret: secretOf(source, 'b') });
    expectHeard(await send(request), request, 'rejected');
    const id = `${slug}-without`.slice(0, 40);
    await gate.addSource(id, { ...source, id, name: id }, []);
    const right = delivery(source, first, 'without');
    const answer = await send(right, '1', id);
    expect([answer.outcome, answer.reason]).toEqual(['rejected', 'no secret stored']);
    expectHeard(answer, right, 'rejected');
  });

  /** A request with its signature, or nothing where it lacks what the signature covers. */
  function signedOr(request: Request): Request | undefined {
    try {
      return signed(source, request);
    } catch (error) {
      if (error instanceof UserError) return undefined;
      throw error;
    }
  }
});
