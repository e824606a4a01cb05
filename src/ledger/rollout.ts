import type pg from 'pg';
import { findRenames, type Rename } from '../config/renames.ts';
import { Bug } from '../errors.ts';
import { connect } from './connect.ts';
import { type MigrationPlan, migrate, planMigrations } from './migrate.ts';
import { ensureN8nRole, type RoleChange } from './n8n-role.ts';
import { sourcesWithoutSecret } from './secrets.ts';
import { providersOf, type SourceChange, type SourceRow, syncSources } from './sources.ts';

/** Where to roll out: an address, and what it came from. */
export interface RolloutTarget {
  url: string;
  setting: string;
}

/** What was done, or would be. */
export interface Rollout {
  migrations: MigrationPlan;
  sources: SourceChange[];
  /** Sources that may have lost their id by a rename. */
  renames: Rename[];
  /** The ids of active sources that need a secret and have none. */
  withoutSecret: string[];
}

/** `sources` is null where only the migrations can tell; then nothing is known of renames and secrets either. */
export interface Plan extends Omit<Rollout, 'sources'> {
  sources: SourceChange[] | null;
}

/**
 * Brings a database to what this version and the configuration say: the schema, n8n's role with its grants, the
 * sources. Repeatable; a second run changes nothing.
 * @throws UserError as `migrate` and `ensureN8nRole` do.
 */
export async function rollOut(
  target: RolloutTarget,
  sources: readonly SourceRow[],
  n8n: { password?: string | undefined; setting: string },
): Promise<Rollout & { role: RoleChange }> {
  let role: RoleChange | undefined;
  const done = await bringUp(target, sources, async (client) => {
    role = await ensureN8nRole(client, {
      setting: n8n.setting,
      ...(n8n.password === undefined ? {} : { password: n8n.password }),
    });
  });
  if (!role) throw new Bug("The database was brought up without n8n's role.");
  return { ...done, role };
}

/**
 * `rollOut` for whoever makes n8n's role in another way: `grant` is called once the schema is there, and sees to it
 * that the role has its rights.
 * @throws UserError as `migrate` does.
 */
export async function bringUp(
  target: RolloutTarget,
  sources: readonly SourceRow[],
  grant: (client: pg.ClientBase) => Promise<void>,
): Promise<Rollout> {
  const { setting } = target;
  const { applied } = await planMigrations(target.url, { setting });
  const pending = await migrate(target.url, { setting });
  const client = await connect(target.url, { setting });
  try {
    await grant(client);
    return {
      migrations: { applied: [...applied, ...pending], pending },
      ...(await bringSources(client, sources)),
    };
  } finally {
    await client.end();
  }
}

/** What `rollOut` would do to schema and sources; nothing is changed. */
export async function planRollout(target: RolloutTarget, sources: readonly SourceRow[]): Promise<Plan> {
  const { setting } = target;
  const migrations = await planMigrations(target.url, { setting });
  if (migrations.pending.length > 0) {
    // The table may not be there yet, or have other columns.
    return { migrations, sources: null, renames: [], withoutSecret: [] };
  }
  const client = await connect(target.url, { setting });
  try {
    await client.query('BEGIN');
    const brought = await bringSources(client, sources);
    await client.query('ROLLBACK');
    return { migrations, ...brought };
  } finally {
    await client.end();
  }
}

async function bringSources(
  client: pg.ClientBase,
  rows: readonly SourceRow[],
): Promise<Omit<Rollout, 'migrations'>> {
  const sources = await syncSources(client, rows);
  const idsOf = (change: SourceChange['change']) =>
    sources.filter((source) => source.change === change).map(({ id }) => id);
  const added = new Set(idsOf('added'));
  const gone = added.size > 0 ? await providersOf(client, idsOf('switched off')) : [];
  return {
    sources,
    renames: findRenames(
      gone,
      rows.filter(({ id }) => added.has(id)),
    ),
    withoutSecret: await sourcesWithoutSecret(client),
  };
}
