import { type Connection, listAll, lookUp, request } from './connection.ts';

/** The part of a workflow file that is looked at here; whatever else a node holds goes through as it is. */
export interface WorkflowFile {
  id?: string;
  name: string;
  nodes: FileNode[];
  connections: object;
  settings?: object;
}

export interface FileNode {
  id: string;
  name: string;
  type: string;
  parameters: object;
  webhookId?: string;
  credentials?: Record<string, { id: string | null; name: string }>;
}

/** A workflow as n8n keeps it. */
export interface StoredWorkflow extends WorkflowFile {
  id: string;
  /** True while a version of it is published. */
  active: boolean;
  versionId: string;
  isArchived: boolean;
}

/**
 * Imports a workflow file: updates the workflow that is there already, else makes it. The one that is there
 * is found by the file's id, or by the webhookId of its Webhook node, because the public API gives a new
 * workflow an id of its own. n8n fills in a credential that is given by name while it saves. A workflow that
 * was published is published again by the update.
 *
 * Throws UserError as `request` does.
 */
export async function importWorkflow(connection: Connection, file: WorkflowFile): Promise<StoredWorkflow> {
  const { name, nodes, connections, settings = {} } = file;
  const body = { name, nodes, connections, settings };
  const existing = await findWorkflow(connection, file);
  const saved = existing
    ? await request(connection, 'PUT', `workflows/${existing.id}`, body)
    : await request(connection, 'POST', 'workflows', body);
  return saved as StoredWorkflow;
}

/** The stored workflow that a file stands for, or undefined. Archived ones do not count. */
export async function findWorkflow(
  connection: Connection,
  file: WorkflowFile,
): Promise<StoredWorkflow | undefined> {
  if (file.id) {
    const byId = await getWorkflow(connection, file.id);
    if (byId && !byId.isArchived) return byId;
  }
  const wanted = new Set(webhookIds(file));
  if (wanted.size === 0) return undefined;
  const all = await listAll<StoredWorkflow>(connection, 'workflows?excludePinnedData=true');
  return all.find((one) => !one.isArchived && webhookIds(one).some((id) => wanted.has(id)));
}

function webhookIds(workflow: WorkflowFile): string[] {
  return workflow.nodes.flatMap((node) => (node.webhookId ? [node.webhookId] : []));
}

/** The workflow of that id, or undefined. */
export async function getWorkflow(connection: Connection, id: string): Promise<StoredWorkflow | undefined> {
  return (await lookUp(connection, `workflows/${id}`)) as StoredWorkflow | undefined;
}

/** Publishes the newest version; throws UserError where n8n finds a node that is not set up. */
export async function publishWorkflow(connection: Connection, id: string): Promise<void> {
  await request(connection, 'POST', `workflows/${id}/activate`);
}

/** Takes the workflow's production URLs down; the workflow stays. */
export async function unpublishWorkflow(connection: Connection, id: string): Promise<void> {
  await request(connection, 'POST', `workflows/${id}/deactivate`);
}
