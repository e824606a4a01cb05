import { type Gate, openGate } from './gate.ts';
import { type Answer, fail, finish } from './gate-statements.ts';

/** What a rogue holder of n8n's role finds: a held event, a final one, and a delivery that could not be keyed. */
export interface Stage {
  gate: Gate;
  held: Answer;
  final: Answer;
}

/** A gate with the source `p` and an event in each of those states. */
export async function openStage(): Promise<Stage> {
  const gate = await openGate();
  await gate.addSource('p', { maxAttempts: 1000 });
  const held = await gate.send('p', { id: 'held' }, { execution: 'held' });
  const final = await gate.send('p', { id: 'final' });
  await finish(gate.n8n, final);
  await gate.send('p', {});
  return { gate, held, final };
}

/** The event `p:failed`, failed anew if the test before has taken it. */
export async function failedEvent(gate: Gate): Promise<Answer> {
  const failed = await gate.send('p', { id: 'failed' }, { execution: 'f' });
  if (failed.claim) await fail(gate.n8n, 'p', { execution: 'f' });
  return failed;
}
