import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { inspectConfig } from '../../src/config/load.ts';
import { resolveInspected } from '../../src/generate/resolve.ts';
import { ownFolder } from '../fixtures/own-provider.ts';
import { openGate } from './harness/gate.ts';

test('a sender with a known scheme needs one YAML file: its events take effect once, a forged one never', async () => {
  const { folder, config } = ownFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const gate = await openGate();
  onTestFinished(() => gate.database.drop());
  const [source] = resolveInspected(await inspectConfig(config));
  if (!source) throw new Error('the configuration has no source');
  await gate.addSource('post', source, ['of the post']);
  const event = { id: 'ev_1', type: 'parcel.delivered' };
  const send = (body: object, secret = 'of the post') => gate.send('post', body, { secret });
  expect(await send(event)).toMatchObject({ outcome: 'new', key: 'post:ev_1', type: 'parcel.delivered' });
  expect((await send(event)).outcome).toBe('duplicate');
  expect((await send({ ...event, id: 'ev_2' }, 'of somebody else')).outcome).toBe('rejected');
});
