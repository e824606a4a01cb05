import { compileBatches, type FetchRule, type ItemPath } from './compile-batches.ts';
import { compileExchange, type ExchangeRules } from './compile-exchange.ts';
import type { Provider } from './schema.ts';

/** What few sources need beside signature and key, as `webhook_sources.rules` holds it; each part is there or not. */
export interface SourceRules extends ExchangeRules {
  items?: ItemPath[];
  fetch?: FetchRule;
  [part: string]: unknown;
}

/** What a source says itself of what its provider's file leaves to it. */
export interface RuleSettings {
  guard?: boolean | undefined;
}

/** The rules of a source; null for the many that have none, whose deliveries then cost nothing more. */
export function compileRules(provider: Provider, settings: RuleSettings = {}): SourceRules | null {
  const rules: SourceRules = { ...compileBatches(provider), ...compileExchange(provider, settings.guard) };
  return Object.keys(rules).length === 0 ? null : rules;
}
