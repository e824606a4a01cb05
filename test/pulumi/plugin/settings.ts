import type { Fields, Values } from './fields.ts';

/** The provider's own settings that the stand-in implements; the others are refused. */
export const settingFields: Fields = {
  host: { type: 'string' },
  port: { type: 'number', default: 5432 },
  database: { type: 'string', default: 'postgres' },
  username: { type: 'string', default: 'postgres' },
  databaseUsername: { type: 'string' },
  password: { type: 'string', secret: true },
  superuser: { type: 'boolean', default: true },
  sslmode: {
    type: 'string',
    refuse: (value) =>
      ['disable', 'require', 'verify-ca', 'verify-full'].includes(value as string)
        ? undefined
        : `unsupported sslmode ${JSON.stringify(value)}`,
  },
  sslrootcert: { type: 'string' },
  connectTimeout: { type: 'number', default: 180 },
  maxConnections: { type: 'number', default: 20 },
};

/** How to reach the server, with the real plugin's defaults. Seconds for `connectTimeout`. */
export interface Settings {
  host: string;
  port: number;
  database: string;
  username: string;
  password: string;
  /** The role that owns what is made: not the login where the server maps names. */
  currentUser: string;
  superuser: boolean;
  sslmode: string;
  sslrootcert: string;
  connectTimeout: number;
  maxConnections: number;
}

/** The SDK sends whatever is no string as JSON in a string. */
export function decodeSettings(values: Values): Values {
  const decoded: Values = {};
  for (const [name, value] of Object.entries(values)) {
    const field = settingFields[name];
    const coded = typeof value === 'string' && (field?.type === 'number' || field?.type === 'boolean');
    decoded[name] = coded && /^(-?\d+|true|false)$/.test(value) ? JSON.parse(value) : value;
  }
  return decoded;
}

export function settingsFrom(values: Values): Settings {
  const decoded = decodeSettings(values);
  const get = <T>(name: string, zero: T): T =>
    (decoded[name] ?? settingFields[name]?.default ?? zero) as unknown as T;
  const username = get('username', '');
  return {
    host: get('host', ''),
    port: get('port', 0),
    database: get('database', ''),
    username,
    password: get('password', ''),
    currentUser: get('databaseUsername', '') || username,
    superuser: get('superuser', true),
    // lib/pq demands TLS where nothing is said.
    sslmode: get('sslmode', '') || 'require',
    sslrootcert: get('sslrootcert', ''),
    connectTimeout: get('connectTimeout', 0),
    maxConnections: get('maxConnections', 0),
  };
}
