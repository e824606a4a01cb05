import { UserError } from '../errors.ts';

/** Where n8n's public REST API is, and the key that opens it. */
export interface Connection {
  /** The address of the n8n instance, e.g. `https://n8n.example.com`, with or without a trailing slash. */
  url: string;
  /** An API key with the scopes for workflows and credentials. */
  apiKey: string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One call of n8n's public API: `path` is relative to `/api/v1/`, JSON in and out.
 *
 * Resolves with the parsed answer, undefined where it is empty.
 * Throws UserError: n8n cannot be reached, the key is refused, or n8n says no (with n8n's own message).
 */
export async function request(
  connection: Connection,
  method: Method,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const answer = await send(connection, method, path, body);
  if (!answer.ok) throw refusal(answer, method, path);
  return answer.body;
}

/** Reads one thing by its path; undefined where n8n does not have it. Throws as `request` does. */
export async function lookUp(connection: Connection, path: string): Promise<unknown> {
  const answer = await send(connection, 'GET', path);
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw refusal(answer, 'GET', path);
  return answer.body;
}

/** All pages of a list. Throws as `request` does. */
export async function listAll<T>(connection: Connection, path: string): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: '250', ...(cursor ? { cursor } : {}) });
    const page = (await request(connection, 'GET', `${path}${path.includes('?') ? '&' : '?'}${query}`)) as {
      data: T[];
      nextCursor: string | null;
    };
    all.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor);
  return all;
}

/** An n8n address as a base that `new URL(relative, base)` keeps whole, a path prefix included. */
export function baseOf(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

/** What to say where n8n does not answer at all. */
export function unreachable(url: string, error: unknown): UserError {
  const cause = (error as Error).cause ?? error;
  return new UserError({
    message: `n8n cannot be reached at ${new URL(url).origin}: ${(cause as Error).message}`,
    remedy: 'Start n8n, or correct its address.',
  });
}

interface Answer {
  ok: boolean;
  status: number;
  body: unknown;
}

async function send(
  { url, apiKey }: Connection,
  method: Method,
  path: string,
  body?: unknown,
): Promise<Answer> {
  try {
    const response = await fetch(new URL(`api/v1/${path}`, baseOf(url)), {
      method,
      headers: { 'X-N8N-API-KEY': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { ok: response.ok, status: response.status, body: parse(text) };
  } catch (error) {
    throw unreachable(url, error);
  }
}

/** n8n answers in JSON; what does not parse is a proxy's own page and stays text. */
function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 200);
  }
}

const REMEDIES: Record<number, string> = {
  401: 'Make a new API key in n8n (Settings, n8n API) and use that one.',
  403: 'Give the API key the scopes workflow:* and credential:*, or use a key of the owner.',
};

function refusal({ status, body }: Answer, method: Method, path: string): UserError {
  const reason =
    typeof body === 'object' && body !== null && 'message' in body ? body.message : (body ?? 'no message');
  const remedy = REMEDIES[status];
  return new UserError({
    message: `n8n refused ${method} /api/v1/${path} with ${status}: ${String(reason)}`,
    ...(remedy ? { remedy } : {}),
  });
}
