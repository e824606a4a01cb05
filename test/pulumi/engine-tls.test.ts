import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import { makeAuthority } from './harness/certificate.ts';
import { deliverSigned } from './harness/n8n.ts';
import { openStage, type Stage, why } from './harness/stage.ts';

// The program, the plugin and the dynamic providers read the authority's file each from its own working directory.
describe.skipIf(!inject('tools'))('a private authority', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(18, {
      tls: makeAuthority('localhost'),
      settings: { host: 'localhost', sslmode: 'verify-full', sslrootcert: 'ca.pem' },
    });
  });
  afterAll(() => stage?.close());

  test('is trusted by all of them', async () => {
    const { stack, secret, project } = stage;
    const up = await stack.up();
    expect(up.code, why(up)).toBe(0);
    const refresh = await stack.refresh('--expect-no-changes');
    expect(refresh.code, why(refresh)).toBe(0);
    const { n8nUrl } = (await stack.outputs()) as { n8nUrl: string };
    const url = new URL(n8nUrl);
    url.searchParams.set('sslrootcert', `${project.folder}/ca.pem`);
    const n8n = await connect(url.href);
    expect((await deliverSigned(n8n, secret, 'evt-1')).outcome).toBe('new');
    const { rows } = await n8n.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true }]);
    await n8n.end();
  });

  test('a server that is not the one of its certificate is refused, with the remedy', async () => {
    const { stack } = stage;
    await stack.configure({ host: '127.0.0.1' });
    const up = await stack.up();
    expect(up.code).not.toBe(0);
    expect(up.output).toMatch(/certificate.*remedy: /s);
  });
});
