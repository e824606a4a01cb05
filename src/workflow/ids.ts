import { createHash } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const WORKFLOW_ID_LENGTH = 16;

/** The ids of one source's workflow and nodes: they depend on nothing but the project and the source's id. */
export interface Ids {
  /** 16 characters of base62, as n8n's own workflow ids. */
  workflow: string;
  /** The id of the part that plays `role`, in the shape of a UUID. */
  of(role: string): string;
}

/**
 * Ids for one source. The same project and source id give the same ids on every machine, so that another
 * import updates the workflow and never makes a second one.
 */
export function idsFor(project: string, source: string): Ids {
  return {
    workflow: base62(digest([project, source])),
    of: (role) => uuid(digest([project, source, role])),
  };
}

function digest(parts: string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (text.length < WORKFLOW_ID_LENGTH) {
    text += BASE62.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return text;
}

/** RFC 9562 leaves version 8 for ids that a program makes in its own way. */
function uuid(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
