import type { Workflow, WorkflowNode } from '../../../src/workflow/types.ts';

/**
 * What the business node of the tests works on. `work` is what a test may put another body into; as it
 * stands, it leaves one row a run, and waits first while a test holds the key (see `hold.ts`).
 */
export const BUSINESS_TABLES = `
  CREATE TABLE effects (key text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE held (key text PRIMARY KEY, lock text NOT NULL);
  CREATE TABLE broken (key text PRIMARY KEY, message text NOT NULL);
  CREATE FUNCTION work(key text) RETURNS text LANGUAGE plpgsql AS $f$
  DECLARE
    why text;
    gate text;
  BEGIN
    SELECT b.message INTO why FROM broken b WHERE b.key = work.key;
    IF FOUND THEN
      RAISE EXCEPTION '%', why;
    END IF;
    SELECT h.lock INTO gate FROM held h WHERE h.key = work.key;
    IF FOUND THEN
      PERFORM pg_advisory_xact_lock_shared(hashtextextended(gate, 0));
    END IF;
    INSERT INTO effects (key) VALUES (work.key);
    RETURN work.key;
  END $f$`;

/** The generated workflow with a node that has an effect in place of "Your business logic", as a user does it. */
export function withBusiness(workflow: Workflow, credential: string): Workflow {
  return mapNode(workflow, 'Your business logic', (node) => ({
    ...node,
    type: 'n8n-nodes-base.postgres',
    typeVersion: 2.6,
    parameters: {
      resource: 'database',
      operation: 'executeQuery',
      query: 'SELECT work($1) AS worked',
      options: { queryReplacement: '={{ [ $json.key ] }}' },
    },
    credentials: { postgres: { id: null, name: credential } },
  }));
}

/** The workflow with one node changed. */
export function mapNode(
  workflow: Workflow,
  name: string,
  change: (node: WorkflowNode) => WorkflowNode,
): Workflow {
  const nodes = workflow.nodes.map((node) => (node.name === name ? change(node) : node));
  if (!workflow.nodes.some((node) => node.name === name))
    throw new Error(`No node "${name}" in ${workflow.name}`);
  return { ...workflow, nodes };
}
