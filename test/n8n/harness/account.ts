/** Someone who is logged in to n8n's editor: its own REST API, which the public one lacks parts of. */
export interface Account {
  url: string;
  email: string;
  password: string;
  /** The session cookie, as `name=value`. */
  cookie: string;
  /** A key for the public API, with every scope that this user may give. */
  apiKey: string;
}

const OWNER = { email: 'owner@example.com', firstName: 'Olga', lastName: 'Owner', password: 'Oncehook-1234' };

/** Sets up the owner of a fresh n8n, logs in, and makes an API key. */
export async function setUpOwner(url: string): Promise<Account> {
  await internal({ url, cookie: '' }, 'POST', 'owner/setup', OWNER);
  const login = await send({ url, cookie: '' }, 'POST', 'login', {
    emailOrLdapLoginId: OWNER.email,
    password: OWNER.password,
  });
  const cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(';')[0] ?? '')
    .find((one) => one.startsWith('n8n-auth='));
  if (!cookie) throw new Error('n8n set no session cookie');
  const scopes = await internal({ url, cookie }, 'GET', 'api-keys/scopes');
  const key = await internal({ url, cookie }, 'POST', 'api-keys', {
    label: 'tests',
    expiresAt: null,
    scopes,
  });
  return {
    url,
    email: OWNER.email,
    password: OWNER.password,
    cookie,
    apiKey: (key as { rawApiKey: string }).rawApiKey,
  };
}

/** One call of the editor's own API, `path` relative to `/rest/`. Throws with n8n's answer where it says no. */
export async function internal(
  account: Pick<Account, 'url' | 'cookie'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const answer = await send(account, method, path, body);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} /rest/${path} → ${answer.status} ${text.slice(0, 1000)}`);
  return (JSON.parse(text) as { data: unknown }).data;
}

function send(
  { url, cookie }: Pick<Account, 'url' | 'cookie'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return fetch(`${url}/rest/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(cookie ? { cookie } : {}) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
