import { beforeAll, expect, test } from 'vitest';
import { onTheWire } from '../../src/cli/send/multipart.ts';
import type { Request } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld({
    name: 'multipart',
    sources: '  form: { provider: prodamus, path: multipart/form, secrets: [FIRST_SECRET] }\n',
  });
});

const source = () => world.source('form');
/** As the sender's program sends it: n8n gets no bytes to hand on. */
const sent = (request: Request): Request => ({ ...onTheWire(request) });
/** The request with other fields under the same signature. */
const changed = (request: Request, change: (fields: URLSearchParams) => void): Request => {
  const fields = new URLSearchParams(request.body.toString());
  change(fields);
  return { ...request, body: Buffer.from(fields.toString()) };
};

test('a multipart form is taken once, by its nested fields', async () => {
  const request = source().event();
  const first = await source().deliver(sent(request));
  expect(first).toMatchObject({ status: 200, outcome: 'new' });
  const key = source().keyOf(first);
  await waitFor('the work', async () => (await source().ledger(key))?.status === 'success');
  expect(await source().effects(key)).toBe(1);
  expect(await source().deliver(sent(request))).toMatchObject({ status: 200, outcome: 'duplicate' });
  // What the sender counts up is no difference.
  const again = new URLSearchParams(request.body.toString());
  again.set('attempt', '2');
  const next = source().request(Buffer.from(again.toString()), {
    headers: { 'content-type': 'multipart/form-data' },
  });
  expect(await source().deliver(sent(next))).toMatchObject({ status: 200, outcome: 'duplicate' });
  expect(await source().effects(key)).toBe(1);
  const [stored] = await world.sql(
    "SELECT payload ->> 'products[0][name]' AS name, payload ->> 'customer_extra' AS extra FROM oncehook.webhook_events WHERE idempotency_key = $1",
    [key],
  );
  expect(stored).toEqual({ name: 'Курс «Чай и церемонии»', extra: 'Доставка до двери / подъезд 2' });
});

test('a changed, an added, a missing and a renamed field are refused', async () => {
  const request = source().event();
  for (const change of [
    (fields: URLSearchParams) => fields.set('sum', '1.00'),
    (fields: URLSearchParams) => fields.append('added', '1'),
    (fields: URLSearchParams) => fields.append('sum', '1.00'),
    (fields: URLSearchParams) => fields.delete('attempt'),
    (fields: URLSearchParams) => fields.append('products[2][name]', 'x'),
  ])
    expect(await source().deliver(sent(changed(request, change)))).toMatchObject({
      status: 401,
      outcome: 'rejected',
    });
  const without = { ...request, headers: { 'content-type': 'multipart/form-data' } };
  expect(await source().deliver(sent(without))).toMatchObject({ status: 401, outcome: 'rejected' });
  expect(await source().deliver(sent(request))).toMatchObject({ status: 200, outcome: 'new' });
});

test('the same form, urlencoded, is taken too; what is no form is refused', async () => {
  const request = source().event();
  const urlencoded = {
    ...request,
    headers: { ...request.headers, 'content-type': 'application/x-www-form-urlencoded' },
  };
  expect(await source().deliver(urlencoded)).toMatchObject({ status: 200, outcome: 'new' });
  expect(await source().deliver(sent(request))).toMatchObject({ status: 200, outcome: 'duplicate' });
  for (const [type, body] of [
    ['application/json', '{"order_id":"1","payment_status":"success"}'],
    ['application/json', '[1,null,{"a":null}]'],
    ['text/plain', 'order_id=1'],
    ['multipart/form-data; boundary=x', '--x--\r\n'],
    ['application/x-www-form-urlencoded', ''],
  ] as const)
    expect(
      await source().deliver({
        body: Buffer.from(body),
        headers: { ...request.headers, 'content-type': type },
      }),
      `${type} ${body}`,
    ).toMatchObject({ status: 401, outcome: 'rejected' });
});
