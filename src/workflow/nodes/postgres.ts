import { Bug } from '../../errors.ts';
import type { NodeSpec } from '../types.ts';

/** Without it a database that accepts and never answers holds the run for ever. Seconds. */
const CONNECTION_TIMEOUT = 3;

/** One statement for a Postgres node. */
export interface StatementOptions {
  query: string;
  /** JavaScript expressions, one a query parameter, in the order of `$1`, `$2`, …; none may yield undefined. */
  parameters: string[];
  /** The name of n8n's credential. */
  credential: string;
}

/**
 * A Postgres node that runs one statement per item.
 *
 * The parameters are one array expression, for n8n splits a text at commas and drops empty values. The
 * credential has no id: n8n's import then takes the only Postgres credential of that name. (A missing `id`
 * key, in place of null, would let it take any.)
 */
export function postgres({ query, parameters, credential }: StatementOptions): NodeSpec {
  if (query.startsWith('=') || query.includes('{{')) {
    throw new Bug('SQL of a Postgres node must not be an expression: n8n would paste values into it');
  }
  return {
    type: 'n8n-nodes-base.postgres',
    typeVersion: 2.6,
    outputs: 1,
    parameters: {
      resource: 'database',
      operation: 'executeQuery',
      query,
      options: {
        connectionTimeout: CONNECTION_TIMEOUT,
        queryBatching: 'independently',
        queryReplacement: `={{ [ ${parameters.join(', ')} ] }}`,
      },
    },
    credentials: { postgres: { id: null, name: credential } },
  };
}
