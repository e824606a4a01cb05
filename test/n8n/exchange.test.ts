import { createHash, createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Parameters } from '../../src/workflow/types.ts';
import { exchangeCatalogue } from '../fixtures/exchange.ts';
import { mapNode } from './harness/business.ts';
import { type Answer, deliver } from './harness/deliver.ts';
import { outputOf } from './harness/executions.ts';
import { SECRETS } from './harness/secrets.ts';
import type { Request, TestSource } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const SECRET = SECRETS['FIRST_SECRET'] ?? '';

let world: World;
let greeter: TestSource;
beforeAll(async () => {
  world = await createWorld({
    name: 'exchange',
    providers: exchangeCatalogue,
    sources: `
  greeter: { provider: greeter, path: exchange/greeter, secrets: [FIRST_SECRET] }
  refuser: { provider: asker, path: exchange/refuser, secrets: [FIRST_SECRET] }
  decider: { provider: asker, path: exchange/decider, secrets: [FIRST_SECRET], decide: true }
  guarded: { provider: guarded, path: exchange/guarded, secrets: [FIRST_SECRET] }
`,
  });
  greeter = world.source('greeter');
});

const signed = (source: TestSource, body: object | string): Request =>
  source.request(body, { headers: JSON_TYPE });
const events = async () => {
  const [row] = await world.sql<{ count: number }>(
    'SELECT count(*)::int AS count FROM oncehook.webhook_events',
  );
  return row?.count;
};

describe('a handshake', () => {
  test('that is signed gets its challenge back, and nobody else does', async () => {
    const before = await events();
    const request = signed(greeter, { type: 'challenge', challenge: '<i>3eZbrw1a</i>', id: 'e1' });
    const answer = await greeter.deliver(request);
    expect(answer).toMatchObject({ status: 200, outcome: 'handshake', body: '<i>3eZbrw1a</i>' });
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    const stranger = await greeter.deliver({
      ...request,
      headers: { ...request.headers, 'x-signature': 'ab' },
    });
    expect(stranger).toMatchObject({ status: 403, outcome: 'rejected' });
    expect(stranger.body).not.toContain('3eZbrw1a');
    expect(await events()).toBe(before);
  });

  test('gets the MAC of its token', async () => {
    const plain = 'qgg8vlvZRS6UYooatFL8Aw';
    const answer = await greeter.deliver(signed(greeter, { type: 'validation', payload: { plain } }));
    expect(answer).toMatchObject({ status: 200, outcome: 'handshake' });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    const mac = createHmac('sha256', SECRET).update(plain).digest('hex');
    expect(JSON.parse(answer.body)).toEqual({ plain, mac });
  });

  test('by GET gets its challenge as text where the token is right', async () => {
    const get = (query: Record<string, string>) =>
      deliver(`${greeter.url}?${new URLSearchParams(query)}`, { method: 'GET' });
    const asked = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444' };
    for (const token of [SECRET, createHash('sha256').update(SECRET).digest('hex')]) {
      const answer = await get({ ...asked, 'hub.token': token });
      expect(answer).toMatchObject({ status: 200, outcome: 'handshake', body: '1158201444' });
      expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    }
    for (const query of [asked, { ...asked, 'hub.token': 'x' }, {}, { id: 'e1' }])
      expect(await get(query)).toMatchObject({ status: 403, outcome: 'rejected' });
    expect(await greeter.deliver(signed(greeter, { id: 'by-put' }), { method: 'PUT' })).toMatchObject({
      ...{ status: 404, outcome: undefined },
    });
  });

  test('that nobody signs is answered and is no event, by JSON or form', async () => {
    const before = await events();
    for (const [body, type] of [
      ['{"hook":1}', 'application/json'],
      ['hook=1', 'application/x-www-form-urlencoded'],
    ] as const)
      expect(await deliver(greeter.url, { body, headers: { 'content-type': type } })).toMatchObject({
        ...{ status: 204, outcome: 'handshake', body: '' },
      });
    const more = { body: '{"hook":1,"id":"e1"}', headers: JSON_TYPE };
    expect(await deliver(greeter.url, more)).toMatchObject({ status: 403, outcome: 'rejected' });
    expect(await greeter.deliver(signed(greeter, { events: [] }))).toMatchObject({
      ...{ status: 202, outcome: 'handshake', body: '' },
    });
    expect(await events()).toBe(before);
  });

  test('leaves events what they are', async () => {
    const request = greeter.event();
    const first = await greeter.deliver(request);
    expect(first).toMatchObject({ status: 200, outcome: 'new' });
    const key = greeter.keyOf(first);
    await waitFor('the event to be done', async () => (await greeter.ledger(key))?.status === 'success');
    expect(await greeter.deliver(request)).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(await greeter.effects(key)).toBe(1);
  });
});

test('answers repeat a value to the event and to its copy', async () => {
  const refuser = world.source('refuser');
  const request = signed(refuser, { id: 1001, type: 'order' });
  const first = await refuser.deliver(request);
  expect(first).toMatchObject({ status: 200, outcome: 'new', body: 'OK1001' });
  expect(first.headers['content-type']).toMatch(/^text\/plain/);
  const copy = await refuser.deliver(request);
  expect(copy).toMatchObject({ status: 200, outcome: 'duplicate', body: 'OK1001  ' });
  expect(copy.headers['content-type']).toMatch(/^text\/plain/);
});

test('a body under another id is a copy', async () => {
  const guarded = world.source('guarded');
  const body = { type: 'order', n: 1 };
  const send = (id: string) =>
    guarded.deliver(guarded.request(body, { headers: { ...JSON_TYPE, 'x-id': id } }));
  const first = await send('i1');
  expect(first).toMatchObject({ outcome: 'new' });
  const second = await send('i2');
  expect(second).toMatchObject({ status: 200, outcome: 'duplicate' });
  expect(guarded.keyOf(second)).toBe(guarded.keyOf(first));
});

describe('a question', () => {
  const ask = async (source: TestSource, id: string): Promise<Answer> => {
    const request = signed(source, { id });
    return deliver(`${source.url}?event=check`, request);
  };
  const refused = (id: string) => ({
    ...{ status: 200, outcome: 'question', body: `{"code":13,"for":"${id}"}` },
  });

  test('is refused by default, each time', async () => {
    const before = await events();
    for (let again = 0; again < 2; again++)
      expect(await ask(world.source('refuser'), 'q1')).toMatchObject(refused('q1'));
    expect(await events()).toBe(before);
  });

  test('is refused by the nodes that are generated for the decision', async () => {
    const answer = await ask(world.source('decider'), 'q2');
    expect(answer).toMatchObject(refused('q2'));
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });

  test("is decided by the user's nodes, and refused where they leave out, break off or end in nothing", async () => {
    const decider = world.source('decider');
    const decide = async (type: string, typeVersion: number, parameters: Parameters) =>
      decider.replace(
        mapNode(decider.workflow, 'Your decision', (node) => ({ ...node, type, typeVersion, parameters })),
      );
    const fields = (assignments: { name: string; value: string; type: string }[]): Parameters => ({
      mode: 'manual',
      assignments: { assignments: assignments.map((field, n) => ({ id: `${n}`, ...field })) },
      options: {},
    });
    const set = (assignments: { name: string; value: string; type: string }[]) =>
      decide('n8n-nodes-base.set', 3.4, fields(assignments));

    const yes = `={{ $json.body.id === 'good' ? '{"code":0}' : undefined }}`;
    await set([
      { name: 'answer', value: yes, type: 'string' },
      { name: 'code', value: '={{ 201 }}', type: 'number' },
    ]);
    expect(await ask(decider, 'good')).toMatchObject({
      status: 201,
      outcome: 'question',
      body: '{"code":0}',
    });
    expect(await ask(decider, 'bad')).toMatchObject(refused('bad'));

    await set([
      { name: 'answer', value: 'yes', type: 'string' },
      { name: 'code', value: '={{ 9 }}', type: 'number' },
    ]);
    expect(await ask(decider, 'q3')).toMatchObject({ status: 200, body: 'yes' });

    await set([{ name: 'else', value: 'x', type: 'string' }]);
    expect(await ask(decider, 'q4')).toMatchObject(refused('q4'));

    // Gives no item, so that "Answer question" is never reached.
    await decide('n8n-nodes-base.limit', 1, { maxItems: 0 });
    expect(await ask(decider, 'q5')).toMatchObject(refused('q5'));
    await waitFor('the run that led nowhere', async () => {
      const [newest] = await decider.executions(1);
      return newest && outputOf(newest, 'Answer') && !outputOf(newest, 'Answer question');
    });

    await decide('n8n-nodes-base.stopAndError', 1, { errorMessage: 'no' });
    expect(await ask(decider, 'q6')).toMatchObject({ status: 500, outcome: undefined });

    const request = signed(decider, { id: 'event', type: 'order' });
    expect(await decider.deliver(request)).toMatchObject({ outcome: 'new', body: 'OKevent' });
    expect(await decider.deliver(request)).toMatchObject({ outcome: 'duplicate' });
  });
});
