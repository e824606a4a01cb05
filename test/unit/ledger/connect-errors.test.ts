import { expect, test } from 'vitest';
import { explainConnectError } from '../../../src/ledger/connect.ts';

const target = { host: 'db.example.com', port: 5432, user: 'shop', database: 'orders' };

test.each([
  ['28000', 'no pg_hba.conf entry', 'pg_hba'],
  ['42501', 'permission denied for database', 'GRANT CONNECT'],
  ['53300', 'sorry, too many clients already', 'max_connections'],
  ['57P03', 'the database system is starting up', 'again'],
  ['ENOENT', 'connect ENOENT', 'socket'],
  ['EHOSTUNREACH', 'connect EHOSTUNREACH', 'firewalls'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'sslrootcert'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Hostname does not match', 'sslrootcert'],
  ['', 'Something that nobody foresaw', 'nobody foresaw'],
  ['', '', 'closed'],
])('%s %s: says what to do', (code, message, word) => {
  const error = explainConnectError(Object.assign(new Error(message), { code }), target, 'THE_SETTING');
  expect(error.name).toBe('UserError');
  expect(error.message).toContain(word);
  expect(error.issues[0].remedy).toBeTruthy();
});

test('both addresses of a host refused: the error has a code and no message', () => {
  const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  expect(explainConnectError(refused, target).message).toMatch(/db.example.com:5432(.|\n)*Start Postgres/);
});
