import type { Provider } from './schema.ts';

/** What few sources need beside signature and key, as `webhook_sources.rules` holds it; each part is there or not. */
export interface SourceRules {
  [part: string]: unknown;
}

/** The rules of a source; null for the many that have none, whose deliveries then cost nothing more. */
export function compileRules(_provider: Provider): SourceRules | null {
  return null;
}
