import { describe, expect, test } from 'vitest';
import { serialise } from '../../../../src/workflow/serialise.ts';
import {
  add,
  behind,
  type Canvas,
  canvas,
  connect,
  cut,
  generated,
  merged,
  node,
  pasted,
  remove,
  rename,
  splice,
} from './canvas.ts';

const MADE = generated();
const TEXT = serialise(MADE);
/** What a later version makes: another statement, another lease. */
const LATER = generated({ lease: '1h' }, { claim: 'SELECT later($1, $2, $3, $4, $5, $6, $7, $8, $9)' });

function edited(change: (mine: Canvas) => void, of = MADE): Canvas {
  const mine = canvas(of);
  change(mine);
  return mine;
}

/** Merging the result once more changes nothing. */
function settled(made: typeof MADE, input: Parameters<typeof merged>[1]) {
  const once = merged(made, input);
  expect(once.conflicts).toEqual([]);
  expect(merged(made, { before: once.content }).content).toBe(once.content);
  return once.canvas;
}

describe('a merge', () => {
  test('of what was generated is what is generated', () => {
    expect(merged(MADE, { before: TEXT }).content).toBe(TEXT);
    expect(merged(MADE, { exported: canvas(MADE) }).content).toBe(TEXT);
    expect(merged(LATER, { before: TEXT }).content).toBe(serialise(LATER));
    expect(merged(LATER, { exported: canvas(MADE) }).content).toBe(serialise(LATER));
  });

  test('finds our nodes after a paste', () => {
    const { canvas: result, conflicts } = merged(MADE, { exported: pasted(canvas(MADE)) });
    expect(conflicts).toEqual([]);
    expect(result.nodes.map(({ id }) => id)).toEqual(MADE.nodes.map(({ id }) => id));
    expect(result.settings).toEqual(MADE.settings);
    expect(result.connections).toEqual(canvas(MADE).connections);
    expect(result.nodes.map(({ parameters }) => parameters)).toEqual(
      MADE.nodes.map(({ parameters }) => parameters),
    );
  });

  test('keeps what the user did to our nodes and to the workflow', () => {
    const mine = edited((one) => {
      Object.assign(node(one, 'Claim event'), {
        position: [5, 6],
        credentials: { postgres: { id: 'x', name: 'Mine' } },
      });
      node(one, 'Answer').notes += '\nAsk Ada before you touch this.';
      node(one, 'Mark failed')['disabled'] = true;
      Object.assign(one.settings, { timezone: 'Europe/Rome' });
      Object.assign(one, {
        pinData: { Webhook: [{ json: {} }] },
        tags: [{ id: '1', name: 'paid', createdAt: 'x' }],
      });
      one.name = 'Payments';
    });
    const result = settled(LATER, { before: mine });
    expect(node(result, 'Claim event')).toMatchObject({
      position: [5, 6],
      credentials: { postgres: { id: 'x', name: 'Mine' } },
      parameters: { query: 'SELECT later($1, $2, $3, $4, $5, $6, $7, $8, $9)' },
    });
    expect(node(result, 'Answer').notes).toMatch(/^oncehook: answer\n.*\nAsk Ada/s);
    expect(node(result, 'Mark failed')['disabled']).toBe(true);
    expect(result.settings).toEqual({ ...LATER.settings, timezone: 'Europe/Rome' });
    expect(result).toMatchObject({
      name: 'Payments',
      pinData: { Webhook: [{ json: {} }] },
      tags: [{ id: '1', name: 'paid' }],
    });
  });

  test('leaves out what n8n alone puts into an export', () => {
    const exported = {
      ...canvas(MADE),
      shared: [{ email: 'a@b.c' }],
      versionId: 'v',
      activeVersion: {},
      active: true,
    };
    expect(merged(MADE, { exported }).content).toBe(TEXT);
  });

  test('keeps names that the user gave, in wires and expressions', () => {
    const mine = edited((one) => {
      rename(one, 'New event?', "Ist's neu?");
      rename(one, 'Mark success', 'Done');
    });
    const result = settled(LATER, { before: mine });
    expect(behind(result, 'Claim event')).toEqual(["Ist's neu?"]);
    expect(behind(result, 'Your business logic')).toEqual(['Done']);
    expect(JSON.stringify(node(result, 'Done').parameters)).toContain(String.raw`$('Ist\\'s neu?')`);
    expect(JSON.stringify(node(result, 'Mark failed').parameters)).toContain(`=== 'Done' ? 'Mark success'`);
  });

  test('brings back a node of ours that was removed', () => {
    for (const { name } of MADE.nodes.filter(({ type }) => !type.endsWith('noOp'))) {
      const {
        canvas: result,
        conflicts,
        report,
      } = merged(MADE, { before: edited((one) => remove(one, name)) });
      expect([name, conflicts]).toEqual([name, []]);
      expect(report.restored).toEqual([name]);
      expect([name, result.connections]).toEqual([name, canvas(MADE).connections]);
      expect(serialise({ ...MADE, nodes: [node(result, name)] as never })).toBe(
        serialise({ ...MADE, nodes: MADE.nodes.filter((one) => one.name === name) }),
      );
    }
  });

  test('keeps nodes between ours below the gate, and beside it', () => {
    const mine = edited((one) => {
      splice(one, 'Acknowledge', 'Your business logic', 'Before');
      splice(one, 'Your business logic', 'Mark success', 'After');
      splice(one, 'On failure', 'Mark failed', 'Tell');
      add(one, 'Log');
      connect(one, 'Answer', 'Log');
      add(one, 'Model');
      one.connections['Model'] = { ai_model: [[{ node: 'After', type: 'ai_model', index: 0 }]] };
    });
    const result = settled(LATER, { before: mine });
    expect(result.connections).toEqual(mine.connections);
    expect(result.nodes).toHaveLength(MADE.nodes.length + 5);
  });

  test('lets nobody into the gate', () => {
    for (const [from, to, output] of [
      ['Webhook', 'Raw body', 0],
      ['Claim event', 'New event?', 0],
      ['Claim event', 'Unavailable', 1],
      ['New event?', 'Acknowledge', 0],
      ['New event?', 'Answer', 1],
      ['Replay', 'Claim replay', 0],
    ] as const) {
      const mine = edited((one) => splice(one, from, to, 'Mine', output));
      const { conflicts } = merged(MADE, { before: mine });
      expect(conflicts).toMatchObject([{ node: from, parameter: `the wire to "${to}"` }]);
      const forced = merged(MADE, { before: mine, force: true }).canvas;
      expect(forced.connections).toEqual({
        ...canvas(MADE).connections,
        ...(behind(forced, 'Mine').length ? { Mine: forced.connections['Mine'] } : {}),
      });
      expect(node(forced, 'Mine').parameters).toEqual({ value: 'Mine' });
    }
  });

  test('sees a wire of the gate that was cut, or laid past it', () => {
    const open = edited((one) => cut(one, 'New event?', 'Answer', 1));
    expect(merged(MADE, { before: open }).conflicts).toMatchObject([{ node: 'New event?' }]);
    const past = edited((one) => connect(one, 'Webhook', 'New event?'));
    expect(merged(MADE, { before: past }).conflicts).toMatchObject([{ node: 'Webhook' }]);
    expect(merged(MADE, { before: past, force: true }).content).toBe(TEXT);
  });

  test('warns of a node that runs before the answer, and of another error workflow', () => {
    const mine = edited((one) => {
      add(one, 'Early');
      connect(one, 'Claim event', 'Early');
      one.settings['errorWorkflow'] = 'other';
    });
    const { conflicts, report, canvas: result } = merged(MADE, { before: mine });
    expect(conflicts).toEqual([]);
    expect(report.warnings).toHaveLength(2);
    expect(result.settings['errorWorkflow']).toBe('other');
    expect(behind(result, 'Claim event')).toEqual(['New event?', 'Early']);
  });
});

describe('the place for the user’s nodes', () => {
  const replaced = edited((one) => {
    remove(one, 'Your business logic');
    cut(one, 'Acknowledge', 'Mark success');
    for (const name of ['One', 'Two']) add(one, name);
    connect(one, 'Acknowledge', 'One');
    connect(one, 'One', 'Two');
    connect(one, 'Two', 'Mark success');
  });

  test('does not come back where nodes of theirs stand', () => {
    const result = settled(LATER, { before: replaced });
    expect(result.connections).toEqual(replaced.connections);
    expect(result.nodes.map(({ name }) => name)).not.toContain('Your business logic');
  });

  test('takes their nodes along when the answer moves behind them, and back', () => {
    const success = generated({ ack: 'after-success' });
    const result = settled(success, { before: replaced });
    expect([behind(result, 'New event?'), behind(result, 'Two'), behind(result, 'Mark success')]).toEqual([
      ['One'],
      ['Mark success'],
      ['Acknowledge'],
    ]);
    expect(behind(result, 'Acknowledge')).toEqual([]);
    expect(settled(MADE, { before: result }).connections).toEqual(replaced.connections);
  });

  test('is filled though the nodes around it were removed as well', () => {
    const mine = structuredClone(replaced);
    remove(mine, 'Acknowledge');
    remove(mine, 'Mark success');
    expect(settled(MADE, { before: mine }).connections).toEqual(replaced.connections);
  });

  test('stays away where the way leads straight past it, and comes back where it leads nowhere', () => {
    const straight = edited((one) => remove(one, 'Your business logic'));
    expect(settled(MADE, { before: straight }).connections).toEqual(straight.connections);
    const broken = edited((one) => {
      remove(one, 'Your business logic');
      cut(one, 'Acknowledge', 'Mark success');
    });
    expect(settled(MADE, { before: broken }).connections).toEqual(canvas(MADE).connections);
  });

  test('is theirs once they made something of it', () => {
    const mine = edited((one) =>
      Object.assign(node(one, 'Your business logic'), {
        type: 'n8n-nodes-base.code',
        parameters: { jsCode: '1' },
      }),
    );
    expect(node(settled(LATER, { before: mine }), 'Your business logic')).toMatchObject({
      type: 'n8n-nodes-base.code',
    });
  });

  test('moves behind a node that the generator puts before it', () => {
    const checked = generated({}, {}, (workflow) => ({
      ...workflow,
      nodes: [
        ...workflow.nodes,
        {
          id: 'check',
          name: 'Check',
          type: 'check',
          typeVersion: 1,
          position: [0, 0],
          parameters: {},
          notes: 'oncehook: check',
        },
      ],
      connections: {
        ...workflow.connections,
        Acknowledge: { main: [[{ node: 'Check', type: 'main', index: 0 }]] },
        Check: { main: [[{ node: 'Your business logic', type: 'main', index: 0 }]] },
      },
    }));
    const result = settled(checked, { before: replaced });
    expect([behind(result, 'Acknowledge'), behind(result, 'Check')]).toEqual([['Check'], ['One']]);
    const spliced = edited((one) => splice(one, 'Acknowledge', 'Your business logic', 'Mine'));
    const other = settled(checked, { before: spliced });
    expect([behind(other, 'Acknowledge'), behind(other, 'Check'), behind(other, 'Mine')]).toEqual([
      ['Check'],
      ['Mine'],
      ['Your business logic'],
    ]);
    expect(settled(MADE, { before: result }).connections).toEqual(replaced.connections);
  });
});

describe('a parameter of ours', () => {
  const recipe = (of: Canvas) =>
    (
      node(of, 'Idempotency key').parameters as {
        assignments: { assignments: { name: string; value: string }[] };
      }
    ).assignments.assignments.find(({ name }) => name === 'recipe');
  const changed = edited((one) => Object.assign(recipe(one) ?? {}, { value: '{body.mine}' }));

  test('that the user alone changed stays', () => {
    expect(recipe(settled(LATER, { before: changed }))?.value).toBe('{body.mine}');
  });

  test('that both changed is a conflict, and force takes ours for that node alone', () => {
    const mine = structuredClone(changed);
    node(mine, 'Claim event').parameters['query'] = 'SELECT mine';
    const made = generated({ key: '{body.theirs}' });
    const { conflicts } = merged(made, { before: mine });
    expect(conflicts).toMatchObject([
      { node: 'Idempotency key', parameter: 'parameters.assignments.assignments[recipe]' },
    ]);
    expect([conflicts[0]?.yours, conflicts[0]?.generated]).toEqual([
      expect.stringContaining('{body.mine}'),
      expect.stringContaining('{body.theirs}'),
    ]);
    const forced = merged(made, { before: mine, force: true }).canvas;
    expect([recipe(forced)?.value, node(forced, 'Claim event').parameters['query']]).toEqual([
      '{body.theirs}',
      'SELECT mine',
    ]);
  });

  test('that both changed alike is none', () => {
    expect(merged(generated({ key: '{body.mine}' }), { before: changed }).conflicts).toEqual([]);
  });

  test('is one with what belongs to it: a statement and its parameters', () => {
    const mine = edited((one) => {
      node(one, 'Claim event').parameters['query'] = 'SELECT mine($1)';
    });
    const made = generated({}, {}, (workflow) => ({
      ...workflow,
      nodes: workflow.nodes.map((one) =>
        one.name === 'Claim event'
          ? { ...one, parameters: { ...one.parameters, options: { queryReplacement: '={{ [1] }}' } } }
          : one,
      ),
    }));
    expect(merged(made, { before: mine }).conflicts.map(({ parameter }) => parameter)).toContain(
      'parameters.query',
    );
  });

  test('that is missing is a default that n8n left out; an option that is missing was removed', () => {
    const mine = edited((one) => {
      delete node(one, 'Idempotency key').parameters['mode'];
      delete (node(one, 'Claim event').parameters['options'] as Record<string, unknown>)['connectionTimeout'];
    });
    const result = settled(MADE, { before: mine });
    expect(node(result, 'Idempotency key').parameters['mode']).toBe('manual');
    expect(node(result, 'Claim event').parameters['options']).not.toHaveProperty('connectionTimeout');
  });

  test('without a stamp is a conflict where it differs; words on the canvas are taken', () => {
    const mine = pasted(changed);
    node(mine, 'Set up').parameters['content'] = 'old words';
    const { conflicts, report } = merged(MADE, { exported: mine });
    expect(conflicts).toMatchObject([{ node: 'Idempotency key' }]);
    expect(report.taken).toHaveLength(1);
    expect(recipe(merged(MADE, { exported: mine, force: true }).canvas)?.value).toBe('{body.id}');
  });

  test('without a stamp that is as in the file of the last generation is brought up to date', () => {
    const exported = pasted(canvas(MADE));
    expect(merged(LATER, { exported }).conflicts).not.toEqual([]);
    const result = merged(LATER, { exported, before: canvas(MADE) });
    expect(result.conflicts).toEqual([]);
    expect(node(result.canvas, 'Claim event').parameters).toEqual(
      LATER.nodes.find(({ name }) => name === 'Claim event')?.parameters,
    );
  });
});

describe('copies', () => {
  const twice = (): Canvas => {
    const [one, two] = [pasted(canvas(MADE)), pasted(canvas(MADE), '1')];
    return {
      ...one,
      nodes: [...one.nodes, ...two.nodes],
      connections: { ...one.connections, ...two.connections },
    };
  };

  test('of a workflow that was pasted twice go', () => {
    const { canvas: result, conflicts, report } = merged(MADE, { exported: twice() });
    expect(conflicts).toEqual([]);
    expect(result.nodes).toHaveLength(MADE.nodes.length);
    expect(report.dropped).toHaveLength(MADE.nodes.length);
  });

  test('with nodes of the user on them are a conflict', () => {
    const mine = twice();
    splice(mine, 'Your business logic1', 'Mark success1', 'Mine');
    expect(merged(MADE, { exported: mine }).conflicts).toHaveLength(1);
    expect(merged(MADE, { exported: mine, force: true }).canvas.nodes).toHaveLength(MADE.nodes.length + 1);
  });

  test('of one node are the user’s, and brought up to date', () => {
    const mine = edited((one) => {
      one.nodes.push({ ...structuredClone(node(one, 'Mark success')), id: 'copy', name: 'Mark success1' });
      connect(one, 'Your business logic', 'Mark success1');
    });
    const made = generated({}, { 'mark-success': 'SELECT better($1, $2)' });
    const result = settled(made, { before: mine });
    expect(node(result, 'Mark success1')).toMatchObject({
      id: 'copy',
      parameters: { query: 'SELECT better($1, $2)' },
    });
    expect(behind(result, 'Your business logic')).toEqual(['Mark success', 'Mark success1']);
  });
});

describe('what the generator changes', () => {
  const without = (name: string) =>
    generated({}, {}, (workflow) => ({
      ...workflow,
      nodes: workflow.nodes.filter((one) => one.name !== name),
      connections: Object.fromEntries(Object.entries(workflow.connections).filter(([from]) => from !== name)),
    }));

  test('a node that it stops making goes, unless nodes of the user hang on it', () => {
    expect(
      settled(without('Replay'), { before: edited((one) => void add(one, 'Mine')) }).nodes.map(
        ({ name }) => name,
      ),
    ).not.toContain('Replay');
    const hung = edited((one) => {
      add(one, 'Mine');
      connect(one, 'Replay', 'Mine');
    });
    expect(merged(without('Replay'), { before: hung }).conflicts).toMatchObject([{ node: 'Replay' }]);
  });

  test('a name that it changes changes for the user’s nodes too', () => {
    const mine = edited((one) => {
      add(one, 'Mine').parameters = { value: "={{ $('Answer').first().json }}" };
      connect(one, 'Answer', 'Mine');
    });
    const made = generated({}, {}, (workflow) =>
      JSON.parse(serialise(workflow).replaceAll('"Answer"', '"Reply"')),
    );
    const result = settled(made, { before: mine });
    expect(behind(result, 'Reply')).toEqual(['Mine']);
    expect(node(result, 'Mine').parameters).toEqual({ value: "={{ $('Reply').first().json }}" });
  });

  test('a new name that a node of the user has already is not taken', () => {
    const mine = edited((one) => void add(one, 'Reply'));
    const made = generated({}, {}, (workflow) =>
      JSON.parse(serialise(workflow).replaceAll('"Answer"', '"Reply"')),
    );
    const result = settled(made, { before: mine });
    expect(node(result, 'Reply').parameters).toEqual({ value: 'Reply' });
    expect(behind(result, 'New event?', 1)).toEqual(['Answer']);
  });
});
