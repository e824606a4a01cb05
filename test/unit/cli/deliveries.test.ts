import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DeliveryPlan, signedRequest } from '../../../src/cli/deliveries.ts';
import { asExpected, inRounds, type Sent } from '../../../src/cli/send/rounds.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { UserError } from '../../../src/errors.ts';
import { resolveSources } from '../../../src/generate/resolve.ts';
import { randomSecret, storedKey } from '../../../src/providers/keys.ts';

const sources = resolveSources(
  parseConfig(
    `project: trial
sources:
  timed: { provider: stripe, secrets: [A] }
  plain: { provider: custom, secrets: [A], signature: { signed: "{header.x-event-id}.{body}" } }
  token: { provider: custom, secrets: [A], signature: { scheme: token, header: x-token } }
  basic: { provider: custom, secrets: [A], signature: { scheme: basic } }
  inside: { provider: custom, secrets: [A], signature: { body: sig, partial: true, signed: "{body.event_id}{query.shop}" } }
  own-key: { provider: custom, secrets: [A], key: "{body.order.id}:{header.x-kind}:{body.order.state}" }
  open: { provider: yookassa }
`,
    'test',
  ),
);

function source(name: string) {
  const found = sources.find((one) => one.name === name);
  if (!found) throw new Error(name);
  return found;
}

const plan = (name: string, more: Partial<DeliveryPlan> = {}): DeliveryPlan => ({
  ...{ source: source(name), secret: 'trial secret', nonce: 'n1', now: 1_700_000_000_000 },
  ...more,
});

/** Whether the receiver of a `timed` request would take it, written anew from the provider's documentation. */
function accepts({ body, headers }: ReturnType<typeof signedRequest>, now: number): boolean {
  const [, time, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['stripe-signature'] ?? '') ?? [];
  const right = createHmac('sha256', 'trial secret').update(`${time}.`).update(body).digest('hex');
  return mac === right && now / 1000 - Number(time) <= 300;
}

describe('signedRequest', () => {
  test('is accepted as it is, and with nothing broken on purpose alone', () => {
    fc.assert(
      fc.property(
        fc.uint8Array(),
        fc.constantFrom(undefined, 'body', 'signature', 'time'),
        (body, tamper) => {
          const { now } = plan('timed');
          expect(accepts(signedRequest(plan('timed', { body, tamper })), now)).toBe(tamper === undefined);
        },
      ),
    );
  });

  test('is one event for one nonce, and another for another', () => {
    const body = (nonce: string) => Buffer.from(signedRequest(plan('timed', { nonce })).body).toString();
    expect(body('a')).toBe(body('a'));
    expect(body('a')).not.toBe(body('b'));
  });

  test('has every header that the signature covers', () => {
    const { headers, body } = signedRequest(plan('plain'));
    const mac = createHmac('sha256', 'trial secret')
      .update(`${headers['x-event-id']}.`)
      .update(body)
      .digest('hex');
    expect(headers['x-signature']).toBe(mac);
    expect(signedRequest(plan('plain', { headers: { 'x-event-id': '17' } })).headers['x-event-id']).toBe(
      '17',
    );
  });

  test('carries the signature and what it covers where the scheme has them', () => {
    const { body, query } = signedRequest(plan('inside', { nonce: 'n7' }));
    const { event_id, sig } = JSON.parse(Buffer.from(body).toString());
    const mac = createHmac('sha256', 'trial secret').update(`${event_id}${query['shop']}`).digest('hex');
    expect([sig, query['shop']]).toEqual([mac, 'n7']);
  });

  test("has every part that the source's own key reads", () => {
    const { headers, body } = signedRequest(plan('own-key'));
    const { order } = JSON.parse(Buffer.from(body).toString());
    expect([order.id, order.state, headers['x-kind']].every(Boolean)).toBe(true);
  });

  test.each([
    ['open', 'body'],
    ['open', 'signature'],
    ['token', 'body'],
    ['token', 'time'],
    ['basic', 'body'],
    ['inside', 'body'],
    ['plain', 'time'],
  ] as const)('refuses to break what is not there: %s, %s', (name, tamper) => {
    expect(() => signedRequest(plan(name, { tamper }))).toThrow(UserError);
  });
});

test('a made-up secret can be decoded by the rule that it is for', () => {
  const hmac = source('plain').signature;
  for (const secret_encoding of ['utf8', 'hex', 'base64'] as const) {
    for (const secret_prefix of [undefined, 'whsec_']) {
      const rule = { ...hmac, secret_encoding, ...(secret_prefix ? { secret_prefix } : {}) } as typeof hmac;
      const secret = randomSecret(rule);
      expect(storedKey(rule, secret).length).toBeGreaterThanOrEqual(32);
      expect(secret).toMatch(/^\S+$/);
    }
  }
  const basic = source('basic').signature;
  expect(Buffer.from(storedKey(basic, randomSecret(basic))).toString()).toMatch(/^[^:]+:.{32,}$/);
  for (const none of ['user', 'user:', ':password', ''])
    expect(() => storedKey(basic, none)).toThrow(UserError);
});

describe('inRounds', () => {
  const sent: Omit<Sent, 'ms'> = { status: 200, outcome: 'new', answer: '', reason: null };

  test('does it as often as asked for, and never more at once', async () => {
    let now = 0;
    let most = 0;
    const all = await inRounds(
      20,
      3,
      async () => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((done) => setImmediate(done));
        now -= 1;
        return sent;
      },
      () => {},
    );
    expect([all.length, most]).toEqual([20, 3]);
  });

  test('stops at the first error', async () => {
    let calls = 0;
    const failing = inRounds(
      100,
      2,
      async () => {
        calls += 1;
        throw new UserError('no');
      },
      () => {},
    );
    await expect(failing).rejects.toThrow(UserError);
    expect(calls).toBeLessThanOrEqual(2);
  });

  test('asExpected', () => {
    const of = (...outcomes: (string | null)[]) =>
      outcomes.map((outcome) => ({ ...sent, outcome, ms: 1, status: outcome === 'rejected' ? 401 : 200 }));
    expect(asExpected(of('new', 'duplicate'), undefined)).toBe(true);
    expect(asExpected(of('new', 'rejected'), undefined)).toBe(false);
    expect(asExpected(of('rejected'), ['rejected'])).toBe(true);
    expect(asExpected(of('new', 'duplicate', 'duplicate'), ['duplicate', 'new'])).toBe(true);
    expect(asExpected(of('new'), ['new', 'duplicate'])).toBe(false);
    expect(asExpected(of('new', null), ['new'])).toBe(false);
  });
});
