import { beforeAll, describe, expect, test } from 'vitest';
import { outputOf } from './harness/executions.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld({
    name: 'failing',
    sources: `
  shop: { provider: custom, path: failing/shop, secrets: [FIRST_SECRET] }
  last: { provider: custom, path: failing/last, secrets: [FIRST_SECRET], max_attempts: 2 }
  mark: { provider: custom, path: failing/mark, secrets: [FIRST_SECRET] }
`,
  });
});

const breakWork = (key: string, message: string) =>
  world.sql('INSERT INTO broken VALUES ($1, $2)', [key, message]);
const mendWork = (key: string) => world.sql('DELETE FROM broken WHERE key = $1', [key]);

describe('a business node that throws', () => {
  const message = `out of stock: ' " $1 $& {{ 1+1 }} \\ ,`;

  test('frees the event, the next delivery takes it again, and in the end it had one effect', async () => {
    const source = world.source('shop');
    const request = source.request(
      { event_id: 'throws' },
      { headers: { 'content-type': 'application/json' } },
    );
    await breakWork('shop:throws', message);

    expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'new' });
    await waitFor(
      'the event to be marked',
      async () => (await source.ledger('shop:throws'))?.status === 'failed',
    );
    expect(await source.ledger('shop:throws')).toMatchObject({ attempts: 1, error: message });
    expect(await source.effects('shop:throws')).toBe(0);

    await mendWork('shop:throws');
    expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'reclaimed' });
    await waitFor(
      'the event to be done',
      async () => (await source.ledger('shop:throws'))?.status === 'success',
    );
    expect(await source.ledger('shop:throws')).toMatchObject({ attempts: 2, error: null, deliveries: 2 });
    expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(await source.effects('shop:throws')).toBe(1);
  });

  test('is given up after the last attempt, and kept for a person', async () => {
    const source = world.source('last');
    const request = source.request(
      { event_id: 'doomed' },
      { headers: { 'content-type': 'application/json' } },
    );
    await breakWork('last:doomed', 'never works');

    await source.deliver(request);
    await waitFor('the first failure', async () => (await source.ledger('last:doomed'))?.status === 'failed');
    expect(await source.deliver(request)).toMatchObject({ outcome: 'reclaimed' });
    await waitFor('the last failure', async () => (await source.ledger('last:doomed'))?.status === 'dead');

    expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'duplicate' });
    const letters = await world.sql(
      'SELECT kind, reason, attempts, body FROM oncehook.webhook_dead_letters WHERE idempotency_key = $1',
      ['last:doomed'],
    );
    expect(letters).toEqual([{ kind: 'processing', reason: 'never works', attempts: 2, body: request.body }]);
  });
});

/** Lets the ledger's completion raise for its first `times` calls: a sequence counts them, for it is not rolled back. */
async function breakCompletion(times: number): Promise<() => Promise<unknown>> {
  await world.sql(`
    CREATE SEQUENCE completions;
    ALTER FUNCTION oncehook.finish(text, text) RENAME TO finish_for_real;
    CREATE FUNCTION oncehook.finish(key text, claim text) RETURNS oncehook.transition
    LANGUAGE plpgsql SECURITY DEFINER AS $f$
    BEGIN
      IF nextval('public.completions') <= ${times} THEN
        RAISE EXCEPTION 'completion is broken';
      END IF;
      RETURN oncehook.finish_for_real(key, claim);
    END $f$;
    GRANT EXECUTE ON FUNCTION oncehook.finish(text, text) TO oncehook_n8n`);
  return () =>
    world.sql(`
      DROP FUNCTION oncehook.finish(text, text);
      ALTER FUNCTION oncehook.finish_for_real(text, text) RENAME TO finish;
      DROP SEQUENCE completions`);
}

describe('a "Mark success" that fails', () => {
  test.each([
    ['once is tried again in the same run', 'once', 1, 2],
    ['always does not undo the work: it is never done twice', 'always', 1000, 5],
  ])('%s', async (_, id, failures, tries) => {
    const source = world.source('mark');
    const key = `mark:${id}`;
    const request = source.request({ event_id: id }, { headers: { 'content-type': 'application/json' } });
    const mend = await breakCompletion(failures);
    try {
      expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'new' });
      // While n8n tries on, the event is still held: a delivery changes nothing.
      await waitFor('the first try to fail', async () => {
        const [row] = await world.sql<{ tries: number }>(
          'SELECT last_value::int AS tries FROM completions WHERE is_called',
        );
        return (row?.tries ?? 0) >= 1;
      });
      expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'duplicate' });

      await waitFor('the event to be done', async () => (await source.ledger(key))?.status === 'success', {
        timeout: 60_000,
      });
      expect(await world.sql('SELECT last_value::int AS tries FROM completions')).toEqual([{ tries }]);
    } finally {
      await mend();
    }
    expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(await source.ledger(key)).toMatchObject({ status: 'success', attempts: 1, deliveries: 3 });
    expect(await source.effects(key)).toBe(1);
  });

  test('leaves a failed execution that says so', async () => {
    const source = world.source('mark');
    const failed = (await source.executions(4)).filter((one) => one.status === 'error');
    expect(failed).toHaveLength(1);
    expect(failed[0]?.data.resultData.error?.message).toContain('completion is broken');
    expect(failed[0] && outputOf(failed[0], 'Your business logic')).toEqual([[{ worked: 'mark:always' }]]);
  });
});
