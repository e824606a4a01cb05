import { createHash } from 'node:crypto';

/** Eight hexadecimal digits that tell whether a text has changed. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
