import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileSignature } from '../../../src/providers/compile.ts';
import { listProviders } from '../../../src/providers/load.ts';
import { splitPath } from '../../../src/providers/signed.ts';
import { leaves } from '../../catalogue/bodies.ts';
import { holds, ownPlaces } from '../../catalogue/places.ts';
import { asItStands, publicUrl, type Request, secretOf, signed, sourceOf } from '../../catalogue/requests.ts';
import { type Gate, openGate } from '../harness/gate.ts';
import { verdicts } from './verdicts.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const NOW = 1_760_000_000;

describe.each(listProviders())('what the signature of %s does not cover', (slug) => {
  const source = sourceOf(slug);
  const { providerFile: provider, signature } = source;
  const { uncovered } = provider;
  const samples = Object.values(provider.samples).map((sample) => asItStands(source, sample, false));
  const requests = samples.map((request) => signed(source, request, { at: NOW }));
  const secrets = signature.scheme === 'none' ? [] : [secretOf(source)];
  const places = (part: string) =>
    uncovered.filter((place) => place.startsWith(`${part}.`)).map((place) => splitPath(place).slice(1));

  const own = ownPlaces(source);

  const accepted = async (changed: Request[], id = slug, at = NOW) =>
    (await verdicts(gate, id, changed, at)).map((verdict) => verdict === null);

  beforeAll(async () => {
    await gate.addSource(slug, source, secrets);
  });

  test('each sample is accepted as it is', async () => {
    expect(await verdicts(gate, slug, requests, NOW)).toEqual(requests.map(() => null));
  });

  test('a value of the body can be changed exactly where the file says so', async () => {
    const free = places('body');
    const found = requests.flatMap(leaves).filter(({ path }) => !own.body(path));
    const really = await accepted(found.map(({ changed }) => changed));
    expect(found.map(({ path }, index) => [path, really[index]])).toEqual(
      found.map(({ path }) => [path, uncovered.includes('body') || free.some((steps) => holds(steps, path))]),
    );
    // What no sample shows would be listed without proof.
    expect(free.filter((steps) => !found.some(({ path }) => holds(steps, path)))).toEqual([]);
  });

  test.each([
    ['headers', 'header', own.headers],
    ['query', 'query', own.query],
  ] as const)('one of the %s can be changed exactly where the file says so', async (whole, part, kept) => {
    const key = part === 'header' ? 'headers' : 'query';
    const free = places(part).flat();
    const found = requests.flatMap((request) =>
      Object.keys(request[key])
        .filter((name) => !kept.includes(name))
        .map((name) => ({
          name,
          changed: { ...request, [key]: { ...request[key], [name]: `${request[key][name]}x` } },
        })),
    );
    const really = await accepted(found.map(({ changed }) => changed));
    expect(found.map(({ name }, index) => [name, really[index]])).toEqual(
      found.map(({ name }) => [name, uncovered.includes(whole) || free.includes(name)]),
    );
    expect(free.filter((name) => !found.some((one) => one.name === name))).toEqual([]);
    // None is covered where all are free, and the samples show one that is where they are not.
    const added = requests.map((request) => ({ ...request, [key]: { ...request[key], 'x-added': '1' } }));
    expect(await accepted(added)).toEqual(added.map(() => true));
    if (!uncovered.includes(whole)) expect(really).toContain(false);
  });

  test('an old request is accepted exactly where the file says that no time is signed', async () => {
    const old = samples.map((request) => signed(source, request, { at: NOW - 400 * 86_400 }));
    expect(await accepted(old)).toEqual(old.map(() => uncovered.includes('time')));
  });

  test('another address is accepted exactly where the file says so', async () => {
    const id = `${slug}-elsewhere`.slice(0, 40);
    const settings = Object.fromEntries(
      Object.entries(provider.settings).map(([name, { example }]) => [name, example]),
    );
    const elsewhere = compileSignature(provider.signature, { publicUrl: publicUrl(id), settings });
    await gate.addSource(id, { ...source, id, name: id, signature: elsewhere }, secrets);
    expect(await accepted(requests, id)).toEqual(requests.map(() => uncovered.includes('url')));
  });
});
