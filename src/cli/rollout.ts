import { connect } from '../ledger/connect.ts';
import { type MigrationPlan, migrate, planMigrations } from '../ledger/migrate.ts';
import { ensureN8nRole, type RoleChange } from '../ledger/n8n-role.ts';
import { type SourceChange, type SourceRow, syncSources } from '../ledger/sources.ts';

/** Where to roll out: an address, and what it came from. */
export interface RolloutTarget {
  url: string;
  setting: string;
}

/** What was done, or would be. */
export interface Rollout {
  migrations: MigrationPlan;
  sources: SourceChange[];
}

/** `sources` is null where only the migrations can tell. */
export interface Plan {
  migrations: MigrationPlan;
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
  const { setting } = target;
  const { applied } = await planMigrations(target.url, { setting });
  const pending = await migrate(target.url, { setting });
  const client = await connect(target.url, { setting });
  try {
    const role = await ensureN8nRole(client, {
      setting: n8n.setting,
      ...(n8n.password === undefined ? {} : { password: n8n.password }),
    });
    return {
      migrations: { applied: [...applied, ...pending], pending },
      role,
      sources: await syncSources(client, sources),
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
    return { migrations, sources: null };
  }
  const client = await connect(target.url, { setting });
  try {
    await client.query('BEGIN');
    const changes = await syncSources(client, sources);
    await client.query('ROLLBACK');
    return { migrations, sources: changes };
  } finally {
    await client.end();
  }
}
