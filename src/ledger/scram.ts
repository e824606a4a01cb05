import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { UserError } from '../errors.ts';

/** Postgres's own default (scram_iterations). */
const ITERATIONS = 4096;

/**
 * The SCRAM-SHA-256 verifier of a password, in the form that `ALTER ROLE … PASSWORD` takes and stores
 * (RFC 5802, RFC 7677; pg_authid.rolpassword). With it the password itself never reaches the server, nor a
 * log of statements.
 *
 * Only printable ASCII, for which SASLprep (RFC 4013) changes nothing: throws UserError otherwise.
 * `setting` is named in that message. `salt` (bytes) is random unless given.
 */
export function scramVerifier(password: string, setting: string, salt: Buffer = randomBytes(16)): string {
  if (!/^[\x20-\x7e]+$/.test(password)) {
    throw new UserError({
      message:
        password === '' ? `${setting} is empty.` : `${setting} holds characters other than printable ASCII.`,
      expected: 'a password of printable ASCII characters',
      remedy: 'Make one, for example: openssl rand -hex 24',
    });
  }
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const serverKey = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
