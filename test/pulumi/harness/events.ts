import { readFileSync } from 'node:fs';

/** What the engine did, or would do, with one resource. */
export interface Step {
  op: string;
  urn: string;
  /** `postgresql:index/role:Role`. */
  type: string;
  name: string;
}

export interface Events {
  /** In the order in which they began, without those that stay the same. */
  steps: Step[];
  /** How many resources had each operation: `{ create: 6, same: 1 }`; undefined where the run broke off. */
  changes: Record<string, number> | undefined;
  /** Messages of severity error. */
  errors: string[];
}

interface EngineEvent {
  resourcePreEvent?: { metadata: { op: string; urn: string; type: string } };
  summaryEvent?: { resourceChanges: Record<string, number> };
  diagnosticEvent?: { severity: string; message: string };
}

/** Reads the log that `--event-log` writes. */
export function readEvents(file: string): Events {
  const events: Events = { steps: [], changes: undefined, errors: [] };
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (!line) continue;
    const event = parse(line);
    const made = event.resourcePreEvent?.metadata;
    if (made && made.op !== 'same') {
      events.steps.push({ ...made, name: made.urn.split('::').at(-1) ?? '' });
    }
    if (event.summaryEvent) events.changes = event.summaryEvent.resourceChanges;
    if (event.diagnosticEvent?.severity === 'error') events.errors.push(event.diagnosticEvent.message);
  }
  return events;
}

/** A run that was killed may leave half a line. */
function parse(line: string): EngineEvent {
  try {
    return JSON.parse(line) as EngineEvent;
  } catch {
    return {};
  }
}
