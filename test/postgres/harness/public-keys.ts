import { publicKeyBytes } from '../../../src/providers/key-pair.ts';
import type { Gate } from './gate.ts';

/** What one check of a public key is given, in bytes. */
export interface KeyCheck {
  rule: { key_kind: 'rsa' | 'p256' | 'ed25519'; hash?: string; format?: string };
  key: Uint8Array;
  message: Uint8Array;
  mac: Uint8Array;
}

/** What Postgres says of each. Fails where one raises. */
export async function keysHold(gate: Gate, checks: readonly KeyCheck[]): Promise<boolean[]> {
  const list = checks.map(({ rule, ...bytes }) => ({
    rule,
    ...Object.fromEntries(
      Object.entries(bytes).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
  }));
  const { verdicts } = await gate.row<{ verdicts: boolean[] | null }>(
    `SELECT array_agg(oncehook.key_holds(c -> 'rule', decode(c ->> 'key', 'base64'), decode(c ->> 'message', 'base64'),
       decode(c ->> 'mac', 'base64')) ORDER BY n) AS verdicts
     FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS x (c, n)`,
    [JSON.stringify(list)],
  );
  return verdicts ?? [];
}

/** A public key's bytes; undefined where it is refused before it is stored. */
export function storable(kind: KeyCheck['rule']['key_kind'], text: string): Uint8Array | undefined {
  try {
    return publicKeyBytes(kind, text);
  } catch {
    return undefined;
  }
}
