import { readdirSync, readFileSync } from 'node:fs';
import { compileSignature } from '../../../src/providers/compile.ts';
import { signatureSchema } from '../../../src/providers/signature.ts';
import type { Gate } from './gate.ts';

/** A request that an official library signed, or that was signed by a documented rule. */
export interface Vector {
  signedBy: string;
  secret: string;
  timestamp: number;
  signature: unknown;
  /** The address that was called, where it is signed. */
  url?: string;
  query?: Record<string, string>;
  headers: Record<string, string>;
  body: string;
}

/** The vectors of test/fixtures/vectors, by name. */
export function readVectors(): [name: string, vector: Vector][] {
  const folder = new URL('../../fixtures/vectors/', import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Vector,
    ]);
}

/** A signature as a provider file has it, in the form that `webhook_sources` stores. */
export function stored(
  written: unknown,
  publicUrl?: string,
  settings?: Record<string, string>,
): { signature: object; toleranceSeconds: number | null } {
  const signature = compileSignature(signatureSchema.parse(written), { publicUrl, settings });
  const tolerance = 'timestamp' in signature ? signature.timestamp?.tolerance : undefined;
  return { signature, toleranceSeconds: typeof tolerance === 'number' ? tolerance : null };
}

/** What the gate says of a request at a time (seconds since 1970): null where its signature holds. */
export async function verdict(
  gate: Gate,
  source: string,
  headers: Record<string, unknown>,
  body: Uint8Array | string,
  at: number,
  query: Record<string, unknown> = {},
): Promise<string | null> {
  const { fast, full } = await gate.row<{ fast: string | null; full: string | null }>(
    `SELECT oncehook.verify(s.id, $2::jsonb, $5::jsonb, $3::bytea, to_timestamp($4::float8)) AS fast,
       oncehook.verify_fully(s, $2::jsonb, $5::jsonb, $3::bytea, to_timestamp($4::float8)) AS full
     FROM oncehook.webhook_sources s WHERE id = $1`,
    [source, JSON.stringify(headers), Buffer.from(body), at, JSON.stringify(query)],
  );
  if (fast !== full) throw new Error(`verify says ${fast}, verify_fully ${full}: ${JSON.stringify(headers)}`);
  return fast;
}
