import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Gate } from './harness/gate.ts';
import { failedEvent, openStage } from './harness/gate-stage.ts';
import {
  type Answer,
  fail,
  finish,
  replay,
  report,
  reportText,
  sqlState,
} from './harness/gate-statements.ts';

let gate: Gate;
let n8n: pg.Client;
let held: Answer;
let failed: Answer;
let final: Answer;
beforeAll(async () => {
  ({ gate, held, final } = await openStage());
  n8n = gate.n8n;
});
beforeEach(async () => {
  failed = await failedEvent(gate);
});
afterAll(() => gate.database.drop());

const DENIED = '42501';
const code = (sql: string): Promise<string> => sqlState(n8n, sql);

describe('through the functions it cannot', () => {
  const row = (key: string) => gate.event(key);

  test('take an event whose lease holds', async () => {
    const before = await row('p:held');
    expect(await gate.send('p', { id: 'held' })).toMatchObject({ outcome: 'duplicate', claim: null });
    expect(await row('p:held')).toEqual(before);
  });

  test('finish with a wrong claim or an old one', async () => {
    const taken = await gate.send('p', { id: 'failed' }, { execution: 'f' });
    expect(taken.outcome).toBe('reclaimed');
    for (const claim of ['', null, 'x', failed.claim, '\\x00', held.claim])
      expect((await finish(n8n, { key: taken.key, claim })).status).toBe('overtaken');
    expect(await row('p:failed')).toMatchObject({ status: 'processing' });
    await fail(n8n, 'p', { execution: 'f' });
  });

  test.each([
    [
      'of a run that holds it, by another token',
      () => ({ id: held.event_id, token: 'forged', key: 'p:held' }),
    ],
    ['that is done, by its own token', () => ({ id: final.event_id, token: final.claim, key: 'p:final' })],
  ])('change the body of an event %s, by a forged delivery', async (_name, of) => {
    const { id, token, key } = of();
    const before = await row(key);
    await report(n8n, { key, token, event_id: id, source: 'p', body_sha256: '\\x00' }, '\0');
    expect(await row(key)).toEqual(before);
  });

  test('find out a stored body field by field', async () => {
    // Were the paths to leave out its own choice, it could ask for one field at a time.
    const forged = {
      key: 'p:held',
      event_id: held.event_id,
      source: 'p',
      taken_sha256: '\\x00',
      body_sha256: '\\x01',
    };
    const ask = async (payload: object) =>
      (await report(n8n, { ...forged, volatile: [['id']] }, JSON.stringify(payload))).outcome;
    expect([await ask({}), await ask({ id: 'held' }), await ask({ x: 1 })]).toEqual([
      'mismatch',
      'mismatch',
      'mismatch',
    ]);
  });

  test('read a secret, a token or a signature from what they give back', async () => {
    await n8n.query('BEGIN');
    const { rows } = await n8n.query(
      `SELECT current_setting('oncehook.delivery') AS d
       FROM oncehook.receive('p', '', '{"x-signature":"00"}', '{}', NULL, 'production') AS c`,
    );
    await n8n.query('ROLLBACK');
    expect(rows[0].d).toContain('signature wrong');
    const { secret } = await gate.row<{ secret: Buffer }>(
      'SELECT secret FROM oncehook.webhook_secrets LIMIT 1',
    );
    expect(rows[0].d).not.toContain(secret.toString());
    expect(rows[0].d).not.toContain(secret.toString('hex'));
  });

  test.each([
    "verify('p', '{}', '{}', '', now())",
    "hmac_pad('x', 54, 'sha256')",
    "idempotency_key('p', 'x', 'plain', true)",
    "body_text('x')",
    'durably()',
    'backoff(1)',
    'copy_pads()',
    'refuse_transition()',
  ])('call %s', async (call) => {
    expect(await code(`SELECT oncehook.${call}`)).toBe(DENIED);
  });
});

// Each of these is said in the documentation: whoever has the role's password can do it.
describe('what it can do', () => {
  test('read keys, attempts and locks; invent an event and call it done', async () => {
    expect(await code('SELECT idempotency_key, attempts, locked_until FROM oncehook.webhook_events')).toBe(
      '',
    );
    const hash = "pg_catalog.sha256('own')";
    await n8n.query(
      `INSERT INTO oncehook.webhook_events (idempotency_key, source, body, body_sha256, locked_until, claim_hash)
       VALUES ('p:invented', 'p', '', '', now() + interval '1 min', ${hash})`,
    );
    expect((await finish(n8n, { key: 'p:invented', claim: 'own' })).status).toBe('success');
  });

  test('take an event that is due, read it, and call it done', async () => {
    const taken = await replay(n8n, 'p', failed.event_id);
    expect(taken).toMatchObject({ outcome: 'reclaimed', body: { id: 'failed' } });
    await gate.owner.query(
      "UPDATE oncehook.webhook_events SET status = 'failed', locked_until = '-infinity' WHERE id = $1",
      [failed.event_id],
    );
  });

  test('end a run whose source, instance and execution it guesses', async () => {
    const run = await gate.send('p', { id: 'guessed' }, { execution: 'guessed' });
    expect((await fail(n8n, 'p', { execution: 'guessed', lastNode: 'Mark success' })).status).toBe('success');
    expect((await finish(n8n, run)).status).toBe('success');
  });

  test('add audit rows, dead letters and rejections that nobody sent, and keep a row locked', async () => {
    const forge = (delivery: object) => code(reportText(delivery));
    const sha = { body_sha256: '\\x01' };
    expect(await forge({ ...sha, key: 'p:held', event_id: held.event_id, source: 'p' })).toBe('');
    expect(await forge({ ...sha, refused: 'unkeyed', reason: 'x', source: 'p' })).toBe('');
    expect(await forge({ refused: 'rejected', reason: 'x', source: 'p' })).toBe('');
    expect(
      await code("SELECT attempts FROM oncehook.webhook_events WHERE idempotency_key = 'p:held' FOR UPDATE"),
    ).toBe('');
  });
});
