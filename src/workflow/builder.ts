import { Bug } from '../errors.ts';
import type { Ids } from './ids.ts';
import type { Connections, NodeSpec, WorkflowNode } from './types.ts';

/** Collects nodes and the wires between them. Positions come later, from the layout. */
export class WorkflowBuilder {
  readonly ids: Ids;
  readonly #nodes = new Map<string, { id: string; spec: NodeSpec; notes: string | undefined }>();
  readonly #connections: Connections = {};

  constructor(ids: Ids) {
    this.ids = ids;
  }

  /**
   * Adds a node and returns its name. `role` gives the node its id, so it must never change once published;
   * `notes` is the text in the node's settings. Throws a Bug where name or role is taken.
   */
  add(name: string, role: string, spec: NodeSpec, notes?: string): string {
    const id = this.ids.of(role);
    for (const [other, node] of this.#nodes) {
      if (other === name || node.id === id) {
        throw new Bug(`Two nodes of one workflow share the name "${name}" or the role "${role}"`);
      }
    }
    this.#nodes.set(name, { id, spec, notes });
    return name;
  }

  /** Wires an output to the input of another node. Throws a Bug for a node or an output that does not exist. */
  connect(from: string, to: string, output = 0): void {
    if (output >= this.#node(from).spec.outputs) {
      throw new Bug(`"${from}" has no output ${output}`);
    }
    this.#wire(from, to, output);
  }

  /** Wires the error output of a node. Throws a Bug where the node has none. */
  connectError(from: string, to: string): void {
    const { spec } = this.#node(from);
    if (spec.onError !== 'continueErrorOutput') {
      throw new Bug(`"${from}" has no error output`);
    }
    this.#wire(from, to, spec.outputs);
  }

  /** The wires so far. */
  get connections(): Connections {
    return this.#connections;
  }

  /** The nodes in the order they were added, each at the place that `positions` gives it. */
  nodes(positions: ReadonlyMap<string, [number, number]>): WorkflowNode[] {
    return [...this.#nodes].map(([name, { id, spec, notes }]) => {
      const position = positions.get(name);
      if (!position) {
        throw new Bug(`The layout has no place for "${name}"`);
      }
      const { outputs: _, ...rest } = spec;
      return { id, name, position, ...rest, ...(notes === undefined ? {} : { notes }) };
    });
  }

  #node(name: string): { spec: NodeSpec } {
    const node = this.#nodes.get(name);
    if (!node) {
      throw new Bug(`No node is called "${name}"`);
    }
    return node;
  }

  #wire(from: string, to: string, output: number): void {
    this.#node(to);
    this.#connections[from] ??= { main: [] };
    const outputs = this.#connections[from].main;
    while (outputs.length <= output) {
      outputs.push([]);
    }
    outputs[output]?.push({ node: to, type: 'main', index: 0 });
  }
}
