import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResolvedSource } from '../../../src/generate/resolve.ts';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import { parseRecipe } from '../../../src/providers/recipe.ts';
import { splitPath } from '../../../src/providers/signed.ts';
import { filled, lookedInto } from '../../catalogue/bodies.ts';
import { evaluate } from '../../catalogue/recipes.ts';
import { asItStands, delivery, type Request, secretOf, signed, sourceOf } from '../../catalogue/requests.ts';
import { type Gate, openGate } from '../harness/gate.ts';
import { deliverItems } from '../harness/gate-batches.ts';
import { type Answer, deliver } from '../harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const all = listProviders().map((slug) => ({ slug, provider: loadProvider(slug) }));
const handshakes = all.flatMap(({ slug, provider }) => provider.handshakes.map((one) => ({ slug, ...one })));
const questions = all.flatMap(({ slug, provider }) => provider.questions.map((one) => ({ slug, ...one })));
const addSource = async (slug: string, id = slug, more: string[] = []) => {
  const source = { ...sourceOf(slug, more), id, name: id };
  await gate.addSource(id, source, source.signature.scheme === 'none' ? [] : [secretOf(source)]);
  return source;
};

/** Sends a request by the statement of its source's workflow; the answer to the request as a whole. */
async function send(id: string, request: Request, slug = id, method = 'POST'): Promise<Partial<Answer>> {
  const delivery = { source: id, ...request, mode: method === 'GET' ? 'production GET' : 'production' };
  if (loadProvider(slug).items === undefined) return deliver(gate.n8n, delivery);
  const [row] = await deliverItems(gate.n8n, delivery);
  return {
    ...row,
    outcome: row?.request_outcome ?? '',
    code: row?.request_code ?? 0,
    answer: row?.request_answer ?? '',
    content_type: row?.request_content_type ?? '',
  };
}

const kept = () =>
  gate.row(`SELECT (SELECT count(*)::int FROM oncehook.webhook_events) AS events,
    (SELECT count(*)::int FROM oncehook.webhook_dead_letters) AS dead`);

/** The request with a text at a place such as `query."hub.verify_token"`. */
function withText(request: Request, place: string, text: string): Request {
  const [from = '', name = ''] = splitPath(place);
  const part = from === 'header' ? 'headers' : 'query';
  return { ...request, [part]: { ...request[part], [name]: text } };
}

describe.each(handshakes)(
  '$slug: the handshake $name',
  ({ slug, method, check, exact, answer, sample, name }) => {
    const source = sourceOf(slug);
    const plain = asItStands(source, sample, false);
    const secretAt = typeof check === 'object' ? check.secret_at : undefined;
    const right = secretAt
      ? withText(plain, secretAt, secretOf(source))
      : check === 'none'
        ? plain
        : signed(source, plain);

    beforeAll(() => addSource(slug));

    test('gets its answer each time, and is no event', async () => {
      const before = await kept();
      for (let again = 0; again < 2; again++)
        expect(await send(slug, right, slug, method)).toMatchObject({
          outcome: 'handshake',
          reason: name,
          code: answer.status ?? 200,
          ...(answer.body === undefined ? {} : { answer: filled(answer.body, right, secretOf(source)) }),
          ...(answer.content_type ? { content_type: answer.content_type } : {}),
          key: null,
          claim: null,
        });
      expect(await kept()).toEqual(before);
    });

    test('gets none where its check fails', async () => {
      const wrong =
        check === 'none'
          ? []
          : secretAt
            ? [plain, withText(plain, secretAt, secretOf(source, 'b'))]
            : [plain, signed(source, plain, { secret: secretOf(source, 'b') })];
      for (const request of wrong)
        expect(await send(slug, request, slug, method)).toMatchObject({ outcome: 'rejected' });
    });

    test.runIf(exact)('is none with a field more', async () => {
      const form = right.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
      const text = Buffer.from(right.body).toString();
      const body = form ? `${text}&more=1` : JSON.stringify({ ...(JSON.parse(text) as object), more: 1 });
      expect((await send(slug, { ...right, body: Buffer.from(body) }, slug, method)).outcome).not.toBe(
        'handshake',
      );
    });
  },
);

describe.each(questions)('$slug: the question $name', ({ slug, refuse, accept, sample, name }) => {
  const source = sourceOf(slug);
  const request = asItStands(source, sample);

  beforeAll(() => addSource(slug));

  test('is refused by default, each time, and is no event', async () => {
    const before = await kept();
    for (let again = 0; again < 2; again++)
      expect(await send(slug, request)).toMatchObject({
        outcome: 'question',
        reason: name,
        code: refuse.status ?? 200,
        answer: filled(refuse.body ?? '', request),
        key: null,
        claim: null,
      });
    expect(await kept()).toEqual(before);
    expect(refuse).not.toEqual(accept);
  });

  test('is rejected with a wrong secret', async () => {
    const forged = asItStands(source, sample, false);
    expect(await send(slug, signed(source, forged, { secret: secretOf(source, 'b') }))).toMatchObject({
      outcome: 'rejected',
    });
  });
});

/** A request under another id: the headers that its key reads, none of which is signed, are other ones. */
function underAnotherId(source: ResolvedSource, request: Request): Request {
  const parsed = parseRecipe(source.key);
  const parts = 'recipe' in parsed ? parsed.recipe.flat() : [];
  const names = parts.flatMap((part) => (part.kind === 'header' ? [part.name] : []));
  const others = names
    .filter((name) => request.headers[name])
    .map((name) => [name, `${request.headers[name]}x`]);
  return { ...request, headers: { ...request.headers, ...Object.fromEntries(others) } };
}

// A sample that gets its key from the body shows nothing of this.
const guarded = all
  .filter(({ provider }) => provider.guard !== undefined)
  .map(({ slug }) => {
    const source = sourceOf(slug);
    const [first = ''] = Object.keys(source.providerFile.samples);
    const request = delivery(source, first, 'guard');
    return { slug, source, request, again: underAnotherId(source, request) };
  })
  .filter(({ source, request, again }) => {
    const [key, other] = [request, again].map((one) => evaluate(source.key, lookedInto(one)));
    if (source.providerFile.guard === 'on' && key === other)
      throw new Error(`${source.id} is guarded for nothing`);
    return key !== other;
  });

describe.each(guarded)(
  '$slug: a body that came before under another id',
  ({ slug, source, request, again }) => {
    test.each([
      ['file', [], source.providerFile.guard === 'on'],
      ['wanted', ['guard: true'], true],
      ['unwanted', ['guard: false'], false],
    ] as const)('is refused as the file or the source says: %s', async (name, more, refused) => {
      const { id } = await addSource(slug, `${slug}-${name}`, [...more]);
      expect(await send(id, request, slug)).toMatchObject({ outcome: 'new' });
      expect((await send(id, again, slug)).outcome).toBe(refused ? 'duplicate' : 'new');
    });
  },
);
