import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { parseConfig } from '../../config/load.ts';
import { Bug } from '../../errors.ts';
import { type ResolvedSource, resolveSources } from '../../generate/resolve.ts';
import { connect } from '../../ledger/connect.ts';
import { claim, markFailed, markSuccess, type Run } from '../../ledger/deliver.ts';
import { rollOut } from '../../ledger/rollout.ts';
import { addSecret } from '../../ledger/secrets.ts';
import { signsUrl } from '../../providers/compile.ts';
import { shapeOf } from '../../providers/compile-batches.ts';
import { type CompiledSignature, type SignedPart, signsParts } from '../../providers/compiled.ts';
import { randomSecret, storedKey } from '../../providers/keys.ts';
import { catalogue } from '../../providers/load.ts';
import { isBody } from '../../providers/signed.ts';
import { type DeliveryPlan, signedRequest } from '../deliveries.ts';
import { type DevServer, n8nUrl, ownerUrl, withThrowAwayDatabase } from './databases.ts';
import type { Passwords } from './folder.ts';

/** One line of the proof: what was sent or done, and what the gate made of it. */
export interface ProofStep {
  what: string;
  /** As decided by the gate. */
  outcome: string;
  /** The HTTP status that the sender would get; null for what is no delivery. */
  code: number | null;
  expected: string;
  ok: boolean;
}

export interface Proof {
  /** The source whose signature, key and answers were used. */
  source: string;
  steps: ProofStep[];
  ok: boolean;
}

/**
 * Proves the gate with signed deliveries in a database that is made for it and gone afterwards, as the role and
 * by the statements that n8n uses: an event, three duplicates, a forged and an expired delivery, a failed run and
 * its second try. `signal` ends it between two steps.
 */
export function prove(
  server: DevServer,
  passwords: Passwords,
  sources: readonly ResolvedSource[],
  signal: AbortSignal,
): Promise<Proof> {
  const source = chooseSource(sources);
  return withThrowAwayDatabase(server, async (database) => {
    const owner = ownerUrl(server, database, passwords);
    const secret = randomSecret(source.signature);
    // The password is set already: roles belong to the server.
    await rollOut({ url: owner, setting: 'the proof' }, [source], { setting: 'the proof' });
    signal.throwIfAborted();
    const admin = await connect(owner);
    try {
      await addSecret(admin, {
        sourceId: source.id,
        name: 'proof',
        key: storedKey(source.signature, secret),
      });
      const n8n = await connect(n8nUrl(server, database, passwords));
      try {
        const steps = await walk(n8n, source, secret, signal);
        const { rows } = await admin.query<{ deliveries: string }>(
          'SELECT deliveries FROM oncehook.webhook_ledger ORDER BY id',
        );
        const counted = rows.map(({ deliveries }) => deliveries).join(' and ');
        steps.push(step('the ledger: two events, and their deliveries', `${counted}`, null, '4 and 3'));
        return { source: source.name, steps, ok: steps.every(({ ok }) => ok) };
      } finally {
        await n8n.end();
      }
    } finally {
      await admin.end();
    }
  });
}

type Client = Awaited<ReturnType<typeof connect>>;

async function walk(
  client: Client,
  source: ResolvedSource,
  secret: string,
  signal: AbortSignal,
): Promise<ProofStep[]> {
  const steps: ProofStep[] = [];
  let execution = 0;
  const run = (): Run => ({ workflow: 'proof', execution: `${execution}`, instance: 'http://proof.invalid' });
  const deliver = async (what: string, outcome: string, plan: Pick<DeliveryPlan, 'nonce' | 'tamper'>) => {
    await turn(undefined, { signal });
    execution += 1;
    const request = signedRequest({ source, secret, now: Date.now(), ...plan });
    const delivery = { sourceId: source.id, mode: 'production', shape: 'event', ...request } as const;
    const [row] = await claim(client, delivery, run());
    if (!row) throw new Bug('A claim gave no row.');
    const code = source.answers[outcome]?.status ?? (outcome === 'rejected' ? 401 : 200);
    const ok = row.outcome === outcome && row.code === code;
    const reason = row.reason === null ? '' : ` (${row.reason})`;
    steps.push({ what, outcome: row.outcome + reason, code: row.code, expected: `${outcome} ${code}`, ok });
    return row;
  };
  const first = nonce();
  const second = nonce();

  const { key, claim: token } = await deliver('a signed delivery of an event', 'new', { nonce: first });
  const ended = await markSuccess(client, key ?? '', token ?? '');
  steps.push(step('its run ends', ended.status, null, 'success'));
  for (const time of ['second', 'third', 'fourth']) {
    await deliver(`the same event, a ${time} time`, 'duplicate', { nonce: first });
  }
  await deliver('forged: signed with another secret', 'rejected', { nonce: nonce(), tamper: 'signature' });
  if (source.toleranceSeconds !== null) {
    await deliver('expired: the signature is too old', 'rejected', { nonce: nonce(), tamper: 'time' });
  }
  await deliver('another event', 'new', { nonce: second });
  const failed = await markFailed(client, source.id, run(), 'the work failed (on purpose)');
  steps.push(step('its run fails', failed.status, null, 'failed'));
  const again = await deliver('the sender tries again', 'reclaimed', { nonce: second });
  const done = await markSuccess(client, again.key ?? '', again.claim ?? '');
  steps.push(step('this run ends', done.status, null, 'success'));
  await deliver('and once more', 'duplicate', { nonce: second });
  return steps;
}

function step(what: string, outcome: string, code: number | null, expected: string): ProofStep {
  return { what, outcome, code, expected, ok: outcome === expected };
}

function nonce(): string {
  return randomBytes(6).toString('hex');
}

/** The first source that signs its bodies and whose requests are events, or one that stands for it; with room for a second try in good time. */
function chooseSource(sources: readonly ResolvedSource[]): ResolvedSource {
  const signs = ({ rules, signature }: ResolvedSource) => shapeOf(rules) === 'event' && signsWhole(signature);
  const source = sources.find(signs) ?? standIn();
  if (!source) throw new Bug('No provider of the catalogue signs its bodies and the time.');
  return {
    ...source,
    maxAttempts: Math.max(2, source.maxAttempts),
    leaseSeconds: Math.max(300, source.leaseSeconds),
  };
}

/** Whether any sample can be signed, and is the same body each time: the signature stands in a header, over the body. */
function signsWhole(signature: CompiledSignature): boolean {
  if (!signsParts(signature) || signature.header === undefined || signature.timestamp?.body) return false;
  const plain = (part: SignedPart) => typeof part === 'string' || !part.path || part.from === 'header';
  return signature.signed.every((parts) => parts.some(isBody) && parts.every(plain)) && !signature.fields;
}

/** A source of the first provider of the catalogue that signs bodies and the time, and needs no settings of its own. */
function standIn(): ResolvedSource | undefined {
  for (const slug of catalogue.list()) {
    const { signature, items, fetch, settings } = catalogue.load(slug);
    if (signature.scheme !== 'hmac' || !signature.timestamp || signsUrl(signature)) continue;
    if (items || fetch || Object.keys(settings).length > 0) continue;
    const [source] = resolveSources(
      parseConfig(
        `project: proof\nsources:\n  proof: { provider: ${slug}, secrets: [PROOF_SECRET] }\n`,
        'proof',
      ),
      catalogue,
    );
    if (source && source.toleranceSeconds !== null && signsWhole(source.signature)) return source;
  }
  return undefined;
}
