import type { Database } from '../connection.ts';
import type { Fields, Values } from '../fields.ts';
import {
  databaseExists,
  grantMembership,
  ident,
  literal,
  lockRole,
  revokeMembership,
  wrapped,
} from '../sql.ts';
import { flag, type Kind, number, text } from './kind.ts';

const fields: Fields = {
  name: { type: 'string' },
  owner: { type: 'string', computed: true },
  template: { type: 'string', computed: true, forceNew: true },
  encoding: { type: 'string', computed: true, forceNew: true },
  lcCollate: { type: 'string', computed: true, forceNew: true },
  lcCtype: { type: 'string', computed: true, forceNew: true },
  tablespaceName: { type: 'string', computed: true },
  connectionLimit: { type: 'number', default: -1 },
  allowConnections: { type: 'boolean', default: true },
  isTemplate: { type: 'boolean', computed: true },
  alterObjectOwnership: {
    type: 'boolean',
    default: false,
    refuse: (value) => (value === true ? 'the stand-in does not implement it' : undefined),
  },
};

/** Of the real plugin's `resource_postgresql_database.go`, without `alter_object_ownership`. */
export const database: Kind = {
  args: 'DatabaseArgs',
  fields,
  required: ['name'],
  importable: true,

  async create(db, plan) {
    const name = text(plan, 'name');
    const owner = given(plan, 'owner');
    await asMemberOf(db, owner, async () => {
      const sql = [
        `CREATE DATABASE ${ident(name)}`,
        `OWNER ${ident(owner || db.settings.currentUser)}`,
        choice('TEMPLATE', given(plan, 'template') || 'template0', ident),
        choice('ENCODING', given(plan, 'encoding') || 'UTF8', literal),
        choice('LC_COLLATE', given(plan, 'lcCollate'), literal),
        choice('LC_CTYPE', given(plan, 'lcCtype'), literal),
        choice('TABLESPACE', given(plan, 'tablespaceName'), ident),
        `ALLOW_CONNECTIONS ${flag(plan, 'allowConnections')}`,
        `CONNECTION LIMIT ${number(plan, 'connectionLimit')}`,
        `IS_TEMPLATE ${flag(plan, 'isTemplate')}`,
      ];
      await wrapped(`error creating database ${JSON.stringify(name)}`, db.query(sql.join(' ')));
    });
    return name;
  },

  async read(db, id, state) {
    if (!(await databaseExists(db, id))) return undefined;
    const { rows } = await db.query(
      `SELECT d.datname, pg_catalog.pg_get_userbyid(d.datdba) AS owner, pg_catalog.pg_encoding_to_char(d.encoding) AS encoding,
         d.datcollate, d.datctype, ts.spcname, d.datconnlimit, d.datallowconn, d.datistemplate
       FROM pg_catalog.pg_database AS d, pg_catalog.pg_tablespace AS ts WHERE d.datname = $1 AND d.dattablespace = ts.oid`,
      [id],
    );
    const [row] = rows;
    if (!row) return undefined;
    return {
      id,
      state: {
        ...state,
        name: row.datname,
        owner: row.owner,
        encoding: row.encoding,
        lcCollate: row.datcollate,
        lcCtype: row.datctype,
        tablespaceName: row.spcname,
        connectionLimit: row.datconnlimit,
        allowConnections: row.datallowconn,
        isTemplate: row.datistemplate,
        template: given(state, 'template') || 'template0',
        alterObjectOwnership: flag(state, 'alterObjectOwnership'),
      },
    };
  },

  async update(db, _id, olds, plan) {
    const [old, name] = [text(olds, 'name'), text(plan, 'name')];
    if (old !== name) {
      const rename = `ALTER DATABASE ${ident(old)} RENAME TO ${ident(name)}`;
      await wrapped('error updating database name', db.query(rename));
    }
    const differs = (property: string) => olds[property] !== plan[property];
    const alter = `ALTER DATABASE ${ident(name)}`;
    const owner = text(plan, 'owner');
    if (differs('owner') && owner) {
      await asMemberOf(db, owner, async () => {
        await wrapped('error updating database OWNER', db.query(`${alter} OWNER TO ${ident(owner)}`));
      });
    }
    if (differs('tablespaceName')) {
      const space = text(plan, 'tablespaceName');
      const change = !space || space.toUpperCase() === 'DEFAULT' ? 'RESET' : 'SET';
      await db.query(`${alter} ${change} TABLESPACE${change === 'SET' ? ` ${ident(space)}` : ''}`);
    }
    if (differs('connectionLimit')) {
      await db.query(`${alter} CONNECTION LIMIT = ${number(plan, 'connectionLimit')}`);
    }
    if (differs('allowConnections')) {
      await db.query(`${alter} ALLOW_CONNECTIONS ${flag(plan, 'allowConnections')}`);
    }
    if (differs('isTemplate')) await db.query(`${alter} IS_TEMPLATE ${flag(plan, 'isTemplate')}`);
  },

  async delete(db, _id, state) {
    const name = text(state, 'name');
    const alter = `ALTER DATABASE ${ident(name)}`;
    await asMemberOf(db, text(state, 'owner'), async () => {
      if (flag(state, 'isTemplate')) await db.query(`${alter} IS_TEMPLATE false`);
      await wrapped('error blocking connections to database', db.query(`${alter} ALLOW_CONNECTIONS false`));
      await wrapped(
        'error terminating database connections',
        db.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${literal(name)} AND pid <> pg_backend_pid()`,
        ),
      );
      await wrapped('error dropping database', db.query(`DROP DATABASE ${ident(name)} WITH ( FORCE )`));
    });
  },
};

/** Takes the owner's place for a while, which needs membership in it; one at a time, but in no transaction. */
async function asMemberOf(db: Database, owner: string, work: () => Promise<void>): Promise<void> {
  if (!owner) return work();
  const me = db.settings.currentUser;
  const lock = await db.begin();
  try {
    await lockRole(lock, me);
    const granted = await grantMembership(db, owner, me);
    try {
      await work();
    } finally {
      // As in the real plugin, nobody hears of it where this fails.
      if (granted) await revokeMembership(db, owner, me).catch(() => {});
    }
  } finally {
    await lock.rollback();
  }
}

/** What the program said; a value that only the server knows counts as nothing. */
function given(values: Values, name: string): string {
  const value = values[name];
  return typeof value === 'string' ? value : '';
}

function choice(word: string, value: string, quote: (value: string) => string): string {
  if (!value) return '';
  return `${word} ${value.toUpperCase() === 'DEFAULT' ? 'DEFAULT' : quote(value)}`;
}
