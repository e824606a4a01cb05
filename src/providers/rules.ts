import { compileBatches, type FetchRule, type ItemPath } from './compile-batches.ts';
import type { Provider } from './schema.ts';

/** What few sources need beside signature and key, as `webhook_sources.rules` holds it; each part is there or not. */
export interface SourceRules {
  items?: ItemPath[];
  fetch?: FetchRule;
  [part: string]: unknown;
}

/** The rules of a source; null for the many that have none, whose deliveries then cost nothing more. */
export function compileRules(provider: Provider): SourceRules | null {
  const rules: SourceRules = { ...compileBatches(provider) };
  return Object.keys(rules).length === 0 ? null : rules;
}
