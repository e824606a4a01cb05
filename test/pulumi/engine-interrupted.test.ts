import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import { connectAsN8n, WALKED, walkGate } from './harness/n8n.ts';
import type { Running } from './harness/pulumi.ts';
import { openStage, type Stage, why } from './harness/stage.ts';

describe.skipIf(!inject('tools'))('an up that was killed', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(18);
  });
  afterAll(() => stage?.close());
  beforeEach(async () => {
    await stage.server.wipe();
    stage.stack.forget();
  });

  const moments: [string, string][] = [
    ['when the first role is there', "SELECT FROM pg_roles WHERE rolname = 'oncehook_owner'"],
    ['when the database is there', "SELECT FROM pg_database WHERE datname = 'oncehook'"],
    [
      'when the database is closed to others',
      "SELECT FROM pg_database WHERE datname = 'oncehook' AND NOT has_database_privilege('pg_monitor', oid, 'CONNECT')",
    ],
    [
      'when migrations run',
      "SELECT FROM pg_stat_activity WHERE datname = 'oncehook' AND usename = 'oncehook_owner' AND application_name = 'oncehook'",
    ],
  ];

  test.each(moments)('%s goes on with cancel, refresh and up', async (_what, condition) => {
    const { stack, project, secret } = stage;
    await killWhen(stack.startUp(), condition);

    // The killed run holds the lock on the state still.
    const cancel = await project.pulumi('cancel', '--yes', '--stack', stack.name, '--non-interactive');
    expect(cancel.code, why(cancel)).toBe(0);
    const refresh = await stack.refresh('--clear-pending-creates');
    expect(refresh.code, why(refresh)).toBe(0);
    const up = await stack.up();
    expect(up.code, why(up)).toBe(0);

    const n8n = await connectAsN8n(stack);
    expect(await walkGate(n8n, secret, 'evt-1')).toEqual(WALKED);
    await n8n.end();
  });

  /** Kills the run with all its plugins as soon as the condition holds on the server. */
  async function killWhen(running: Running, condition: string): Promise<void> {
    const watcher = await connect(stage.server.url('postgres'));
    try {
      for (;;) {
        if ((await watcher.query(condition)).rowCount) break;
        await pause(5);
        if (running.child.exitCode !== null)
          throw new Error(`it ended by itself: ${why(await running.ended)}`);
      }
      const { code } = await running.kill();
      expect(code).toBe(null);
    } finally {
      await watcher.end();
    }
  }
});
