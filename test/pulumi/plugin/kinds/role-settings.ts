import type { Runner } from '../connection.ts';
import type { Values } from '../fields.ts';
import { ident, wrapped } from '../sql.ts';
import { list, number, text } from './kind.ts';

/** Written at every creation and every change, whatever changed. */
export async function setSearchPath(txn: Runner, role: string, plan: Values): Promise<void> {
  const paths = list(plan, 'searchPaths');
  const bad = paths.find((path) => path.includes(', '));
  if (bad !== undefined) throw new Error(`search_path cannot contain \`, \`: ${bad}`);
  const path = paths.length > 0 ? paths.map(ident).join(', ') : 'DEFAULT';
  await wrapped(
    `could not set search_path ${path} for ${role}`,
    txn.query(`ALTER ROLE ${ident(role)} SET search_path TO ${path}`),
  );
}

/** `statement_timeout` and the like, in milliseconds, where they differ from before. */
export async function setTimeouts(txn: Runner, role: string, olds: Values, plan: Values): Promise<void> {
  for (const [property, setting] of timeouts) {
    const wanted = number(plan, property);
    if (wanted === number(olds, property)) continue;
    const change = wanted === 0 ? `RESET ${setting}` : `SET ${setting} TO ${wanted}`;
    await wrapped(
      `could not set ${setting} ${wanted} for ${role}`,
      txn.query(`ALTER ROLE ${ident(role)} ${change}`),
    );
  }
}

export async function setAssumedRole(txn: Runner, role: string, olds: Values, plan: Values): Promise<void> {
  const wanted = text(plan, 'assumeRole');
  if (wanted === text(olds, 'assumeRole')) return;
  const change = wanted ? `SET ROLE TO ${ident(wanted)}` : 'RESET ROLE';
  await wrapped(`could not set role ${wanted} for ${role}`, txn.query(`ALTER ROLE ${ident(role)} ${change}`));
}

const timeouts = [
  ['statementTimeout', 'statement_timeout'],
  ['idleInTransactionSessionTimeout', 'idle_in_transaction_session_timeout'],
] as const;

/** The same settings out of `pg_roles.rolconfig`. A time-out with a unit (`20s`) is an error, as in the real plugin. */
export function readSettings(config: readonly string[]): Values {
  const settings: Values = { searchPaths: [], assumeRole: '' };
  const path = config.find((line) => line.startsWith('search_path'));
  if (path) {
    settings['searchPaths'] = path
      .replace(/^search_path=/, '')
      .split(', ')
      .map((part) => part.replace(/^"+|"+$/g, ''));
  }
  for (const line of config) {
    if (line.startsWith('role')) settings['assumeRole'] = line.replace(/^role=/, '');
  }
  for (const [property, setting] of timeouts) {
    settings[property] = 0;
    const line = config.find((each) => each.startsWith(setting));
    if (!line) continue;
    const value = line.replace(`${setting}=`, '').split(', ')[0] ?? '';
    if (!/^[+-]?\d+$/.test(value)) {
      throw new Error(
        `error reading statement_timeout: strconv.Atoi: parsing ${JSON.stringify(value)}: invalid syntax`,
      );
    }
    settings[property] = Number(value);
  }
  return settings;
}
