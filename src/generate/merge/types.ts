import type { Json } from '../../workflow/types.ts';

/** A node as n8n or a person may have left it: our own keys, and whatever else stands there. */
export type LooseNode = { [key: string]: Json } & {
  name: string;
  type: string;
  position: [x: number, y: number];
  parameters: { [key: string]: Json };
};

/** A workflow of which only the shape of nodes and wires has been checked. */
export interface LooseWorkflow {
  id?: string;
  name?: string;
  nodes: LooseNode[];
  /** As n8n writes them: by the name of the node that they leave. */
  connections: { [name: string]: Json };
  settings: { [key: string]: Json };
  meta: { [key: string]: Json };
  /** What else goes into the file: pinned data, tags, a description. */
  more: { [key: string]: Json };
}

/** What nobody but the user can decide. */
export interface Conflict {
  /** The node's name in the user's file; empty where it is about the workflow. */
  node: string;
  /** The parameter's path, e.g. `parameters.query`, or the wire in words. */
  parameter: string;
  /** What stands in the user's file, as a short text. */
  yours: string;
  /** What the generator makes, as a short text. */
  generated: string;
  /** Why neither can be taken without asking. */
  reason: string;
}

/** What a merge did, in names and paths for people. */
export interface MergeReport {
  /** The user's nodes, and what they changed in ours. */
  kept: string[];
  /** Nodes of ours that had been removed. */
  restored: string[];
  /** Nodes and texts of ours that were replaced though they differed, because nothing depends on them. */
  taken: string[];
  /** What is no longer there: nodes that the generator stopped making, second copies. */
  dropped: string[];
  /** What was kept and costs something. */
  warnings: string[];
}

export interface Merged {
  workflow: LooseWorkflow;
  conflicts: Conflict[];
  report: MergeReport;
}

/** An empty report, to be filled. */
export function emptyReport(): MergeReport {
  return { kept: [], restored: [], taken: [], dropped: [], warnings: [] };
}
