import { stringify } from 'yaml';
import { parseConfig } from '../../../src/config/load.ts';
import { type ResolvedSource, resolveSources } from '../../../src/generate/resolve.ts';
import type { Statements } from '../../../src/generate/statements.ts';

/** A source as `oncehook.yaml` holds it. */
export type RawSource = Record<string, unknown>;

/** One source for each of the three provider files. */
export const RAW: Record<'stripe' | 'yookassa' | 'custom', RawSource> = {
  stripe: { provider: 'stripe', secrets: ['STRIPE_WEBHOOK_SECRET'] },
  yookassa: { provider: 'yookassa' },
  custom: {
    provider: 'custom',
    secrets: ['ORDERS_SECRET'],
    path: 'in/orders',
    key: '{body.event_id}\n{header.x-id}:{body.id}',
  },
};

/** Statements that never change, so that a snapshot is not about SQL. */
export const STATEMENTS: Statements = {
  claim: 'SELECT claim($1, $2, $3, $4, $5, $6, $7, $8, $9)',
  'claim-replay': 'SELECT replay($1, $2, $3, $4, $5)',
  'mark-success': 'SELECT finish($1, $2)',
  'mark-failed': 'SELECT fail($1, $2, $3, $4, $5, $6)',
};

/** The text of a config with these sources. */
export function configText(sources: Record<string, RawSource>, more: Record<string, unknown> = {}): string {
  return stringify({ project: 'shop', ...more, sources });
}

/** One source, resolved against the real provider files. Throws UserError as `generate` would. */
export function resolved(name: string, raw: RawSource, more: Record<string, unknown> = {}): ResolvedSource {
  const [source] = resolveSources(parseConfig(configText({ [name]: raw }, more), 'oncehook.yaml'));
  if (!source) {
    throw new Error('The config has no source');
  }
  return source;
}
