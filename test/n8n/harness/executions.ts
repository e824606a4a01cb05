import { type Connection, listAll, lookUp } from '../../../src/n8n/connection.ts';
import { waitFor } from './wait.ts';

export interface Item {
  json: Record<string, unknown>;
}

/** One run of one node. */
export interface NodeRun {
  executionStatus: string;
  /** Milliseconds. */
  executionTime: number;
  error?: { message: string };
  data?: { main: (Item[] | null)[] };
}

export interface Execution {
  id: string;
  status: string;
  mode: string;
  workflowId: string;
  stoppedAt: string | null;
  data: { resultData: { runData: Record<string, NodeRun[]>; error?: { message: string; name: string } } };
}

/** The executions of a workflow, newest first, without their data. */
export function listExecutions(connection: Connection, workflowId: string): Promise<Execution[]> {
  return listAll<Execution>(connection, `executions?workflowId=${workflowId}`);
}

/** One execution with the data of its nodes. */
export async function getExecution(connection: Connection, id: string): Promise<Execution> {
  const found = await lookUp(connection, `executions/${id}?includeData=true`);
  if (!found) throw new Error(`n8n has no execution ${id}`);
  return found as Execution;
}

/**
 * Waits until the workflow has `count` ended executions (those of its Error Trigger included), and gives
 * them with their data, newest first.
 */
export async function endedExecutions(
  connection: Connection,
  workflowId: string,
  count: number,
): Promise<Execution[]> {
  const ended = await waitFor(`${count} ended executions of ${workflowId}`, async () => {
    const all = await listExecutions(connection, workflowId);
    const over = all.filter((one) => one.stoppedAt && one.status !== 'running');
    return over.length >= count && over;
  });
  return Promise.all(ended.map((one) => getExecution(connection, one.id)));
}

/** The items that a node gave out in an execution, by output; undefined where it did not run. */
export function outputOf(execution: Execution, node: string): Record<string, unknown>[][] | undefined {
  const run = execution.data.resultData.runData[node]?.at(-1);
  return run?.data?.main.map((items) => (items ?? []).map((item) => item.json));
}
