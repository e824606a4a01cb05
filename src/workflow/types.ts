/** A value as JSON holds it. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The parameters of a node, with n8n's own names. A text that begins with `=` is an expression. */
export type Parameters = Record<string, Json>;

/** What n8n does when a node throws: stop the run, pass the input on, or use the node's error output. */
export type OnError = 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';

/** How n8n refers to a credential. `id: null` makes n8n look for the one credential of that name and type. */
export interface CredentialReference {
  id: string | null;
  name: string;
}

/** One node kind with its parameters: what the files in `nodes/` make. It has no name or place yet. */
export interface NodeSpec {
  type: string;
  typeVersion: number;
  parameters: Parameters;
  /** The number of regular outputs; the error output, where there is one, comes after them. */
  outputs: number;
  credentials?: Record<string, CredentialReference>;
  webhookId?: string;
  onError?: OnError;
  retryOnFail?: boolean;
  maxTries?: number;
  /** Milliseconds. */
  waitBetweenTries?: number;
  /** Run for the first item alone. */
  executeOnce?: boolean;
  /** Where the node gives no item, an empty one goes on, and the branch does not end in silence. */
  alwaysOutputData?: boolean;
}

/** A node as it stands in a workflow file. */
export interface WorkflowNode extends Omit<NodeSpec, 'outputs'> {
  id: string;
  name: string;
  /** The upper left corner on the canvas, in pixels. */
  position: [x: number, y: number];
  notes?: string;
}

/** One end of a wire. */
export interface ConnectionTarget {
  node: string;
  type: 'main';
  index: number;
}

/** From a node's name to the wires of each of its outputs. */
export type Connections = Record<string, { main: ConnectionTarget[][] }>;

/** A workflow as `n8n import:workflow` takes it. */
export interface Workflow {
  id: string;
  name: string;
  active: false;
  nodes: WorkflowNode[];
  connections: Connections;
  settings: Record<string, Json>;
  meta: Record<string, Json>;
}
