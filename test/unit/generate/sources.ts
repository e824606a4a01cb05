import { stringify } from 'yaml';
import { parseConfig } from '../../../src/config/load.ts';
import { type ResolvedSource, resolveSources } from '../../../src/generate/resolve.ts';
import type { Statements } from '../../../src/generate/statements.ts';
import type { Catalogue } from '../../../src/providers/load.ts';
import { withFixtures } from '../../fixtures/catalogue.ts';

/** A source as `oncehook.yaml` holds it. */
export type RawSource = Record<string, unknown>;

/** One source for each of three provider files. */
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

/** Those, and one for each other kind of request: several events, and an object to fetch. */
export const KINDS: Record<string, RawSource> = {
  ...RAW,
  several: { provider: 'several', secrets: ['SEVERAL_SECRET'] },
  changes: { provider: 'changes', secrets: ['CHANGES_SECRET'] },
};

/** Statements that never change, so that a snapshot is not about SQL. */
export const STATEMENTS: Statements = {
  claim: 'SELECT claim($1, $2, $3, $4, $5, $6, $7, $8, $9)',
  'claim-items': 'SELECT items($1, $2, $3, $4, $5, $6, $7, $8, $9)',
  'claim-delivery': 'SELECT delivery($1, $2, $3, $4, $5, $6, $7, $8, $9)',
  'claim-object': 'SELECT object($1, $2, $3, $4, $5, $6, $7, $8)',
  'claim-replay': 'SELECT replay($1, $2, $3, $4, $5)',
  'claim-replay-delivery': 'SELECT replay_delivery($1, $2, $3, $4, $5)',
  'mark-success': 'SELECT finish($1, $2)',
  'mark-failed': 'SELECT fail($1, $2, $3, $4, $5, $6)',
};

/** The text of a config with these sources. */
export function configText(sources: Record<string, RawSource>, more: Record<string, unknown> = {}): string {
  return stringify({ project: 'shop', ...more, sources });
}

/** One source, resolved against the real provider files and the tests' own unless others are given. Throws UserError as `generate` would. */
export function resolved(
  name: string,
  raw: RawSource,
  more: Record<string, unknown> = {},
  providers: Catalogue = withFixtures,
): ResolvedSource {
  const [source] = resolveSources(parseConfig(configText({ [name]: raw }, more), 'oncehook.yaml'), providers);
  if (!source) {
    throw new Error('The config has no source');
  }
  return source;
}
