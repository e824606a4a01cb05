import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sourceWorkflow } from '../../../src/generate/source/workflow.ts';
import { serialise } from '../../../src/workflow/serialise.ts';
import type { Json, Parameters, Workflow, WorkflowNode } from '../../../src/workflow/types.ts';
import { exchangeCatalogue } from '../../fixtures/exchange.ts';
import { KINDS, resolved } from './sources.ts';

/** What n8n's own description of a node says of one parameter. */
interface Property {
  name: string;
  type: string;
  options?: (Property & { value?: Json; values?: Property[] })[];
  noDataExpression?: boolean;
}

interface Description {
  version: number | number[];
  properties: Property[];
}

interface NodeHelpers {
  getNodeParameters(
    properties: Property[],
    values: Parameters,
    returnDefaults: boolean,
    returnNoneDisplayed: boolean,
    node: WorkflowNode,
    description: Description,
  ): Parameters;
  getNodeParametersIssues(properties: Property[], node: WorkflowNode, description: Description): unknown;
}

/** The modules of an n8n that the end-to-end tests installed on this machine; without one, these tests are left out. */
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'oncehook');
const [installed] = globSync(join(cache, 'n8n-*/node_modules/n8n-nodes-base/package.json'));

describe.skipIf(installed === undefined)('n8n itself', () => {
  const load = createRequire(installed ?? import.meta.url);
  const known = (installed ? load('./dist/known/nodes.json') : {}) as Record<
    string,
    { className: string; sourcePath: string }
  >;

  function describeNode({ type, typeVersion }: WorkflowNode): Description | undefined {
    const entry = known[type.replace('n8n-nodes-base.', '')];
    if (!entry) {
      return undefined;
    }
    const module = load(`./${entry.sourcePath}`) as Record<string, new () => Versioned>;
    const kind = module[entry.className];
    const instance = kind && new kind();
    return instance?.nodeVersions ? instance.nodeVersions[typeVersion]?.description : instance?.description;
  }

  const workflows = Object.entries(KINDS).flatMap(([name, raw]) =>
    (['after-claim', 'after-success'] as const).map(
      // As n8n reads the file, not as it stands in memory.
      (ack) => JSON.parse(serialise(sourceWorkflow(resolved(name, { ...raw, ack })))) as Workflow,
    ),
  );
  const exchanging = [
    { provider: 'greeter', secrets: ['SECRET'] },
    { provider: 'asker', secrets: ['SECRET'], decide: true },
  ].map(
    (raw) =>
      JSON.parse(serialise(sourceWorkflow(resolved(raw.provider, raw, {}, exchangeCatalogue)))) as Workflow,
  );
  const nodes = [...workflows, ...exchanging].flatMap((workflow) =>
    workflow.nodes.map((node) => ({ label: `${workflow.name}: ${node.name}`, node })),
  );

  test.each(nodes)('knows every parameter of $label', ({ node }) => {
    const { NodeHelpers } = load('n8n-workflow') as { NodeHelpers: NodeHelpers };
    const description = describeNode(node);
    expect(description, `${node.type} ${node.typeVersion}`).toBeDefined();
    if (!description) {
      return;
    }
    const versions = [description.version].flat();
    expect(versions).toContain(node.typeVersion);
    // n8n drops what it does not know, and what it does not show beside the other values.
    const { properties } = description;
    const kept = NodeHelpers.getNodeParameters(properties, node.parameters, true, false, node, description);
    expect(kept).toMatchObject(node.parameters);
    expect(NodeHelpers.getNodeParametersIssues(properties, node, description)).toBeNull();
    expect(unknownChoices(properties, node.parameters)).toEqual([]);
  });
});

interface Versioned {
  description: Description;
  nodeVersions?: Record<number, { description: Description }>;
}

/** The values of `options` parameters, in collections too, that no property of that name offers. */
function unknownChoices(properties: Property[], values: Parameters): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const sameName = properties.filter((property) => property.name === name);
    if (sameName.length === 0) {
      return [`${name} is no parameter`];
    }
    return sameName.some((property) => offers(property, value)) ? [] : [`${name}: ${JSON.stringify(value)}`];
  });
}

function offers({ type, options = [] }: Property, value: Json): boolean {
  if (type === 'options') {
    return options.some((option) => option.value === value);
  }
  if (type === 'collection') {
    return unknownChoices(options, value as Parameters).length === 0;
  }
  if (type === 'fixedCollection') {
    return Object.entries(value as Record<string, Json>).every(([name, entries]) => {
      const inner = options.find((option) => option.name === name)?.values;
      return [entries]
        .flat()
        .every((entry) => inner && unknownChoices(inner, entry as Parameters).length === 0);
    });
  }
  return true;
}
