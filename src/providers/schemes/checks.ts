import { z } from 'zod';
import type { SignedPart } from '../compiled.ts';
import { compileSigned, isBody, partsFrom, splitPath } from '../signed.ts';
import { place, signing } from './parts.ts';

const placed = z.object(place);
const mac = z.object(signing);

type Context = Pick<z.core.$RefinementCtx, 'addIssue'>;
/** What checks of one signature tell each other. */
type Need = (path: (string | number)[], message: string) => void;

const needBy =
  (context: Context): Need =>
  (path, message) =>
    context.addIssue({ code: 'custom', path, message });

/** What a signature or token needs to have a place. */
export function checkPlace(value: z.infer<typeof placed>, context: Context): void {
  const need = needBy(context);
  const places = [value.header, value.query, value.body, value.item].filter((found) => found !== undefined);
  if (places.length !== 1)
    need(
      places.length > 1 ? [] : ['header'],
      'exactly one of `header`, `query`, `body` and `item`: the place where it stands',
    );
  if (value.item !== undefined && value.each === undefined)
    need(['each'], 'the list whose elements `item` means');
}

/** A plain hash must hold the secret; every other scheme has it, or a key, beside the text. */
type Scheme = 'hmac' | 'hash' | 'rsa' | 'ecdsa' | 'ed25519';

/** What settings that depend on each other need. */
export function checkSigning(scheme: Scheme, value: z.infer<typeof mac>, context: Context): void {
  const need = needBy(context);
  checkPlace(value, context);
  checkWriting(value, need);
  const templates = typeof value.signed === 'string' ? [value.signed] : value.signed;
  for (const [index, text] of templates.entries()) {
    const path = typeof value.signed === 'string' ? ['signed'] : ['signed', index];
    const { parts, issue } = compileSigned(text);
    if (issue === undefined) checkTemplate(scheme, value, parts, (message) => need(path, message));
    else need(path, issue);
  }
  if (value.fields && !templates.some((text) => text.includes('{fields}')))
    need(['fields'], 'a template with {fields}');
  if (value.fields?.secret_as !== undefined && scheme !== 'hash')
    need(['fields', 'secret_as'], 'the scheme `hash`: every other one has its key beside what is signed');
  const each = value.item !== undefined || templates.some((text) => text.includes('{item.'));
  if (value.each !== undefined && !each) need(['each'], 'an `item` or a template with {item.path} beside it');
}

function checkWriting(value: z.infer<typeof mac>, need: Need): void {
  const { pairs, timestamp } = value;
  if (pairs && value.prefix !== undefined) need(['prefix'], 'no prefix together with pairs');
  if (pairs && value.header === undefined) need(['pairs'], 'a `header` that holds the pairs');
  if (value.more_headers && value.header === undefined) need(['more_headers'], 'a first `header`');
  if (pairs && (pairs.equals ?? '=').includes(pairs.separator))
    need(['pairs', 'separator'], 'a separator that does not stand between a name and its value');
  if (timestamp?.pair !== undefined && !pairs) need(['timestamp', 'pair'], 'pairs beside it');
  if (timestamp?.pair !== undefined && timestamp.pair === pairs?.name)
    need(['timestamp', 'pair'], "another name than the signature's pair");
}

function checkTemplate(
  scheme: Scheme,
  value: z.infer<typeof mac>,
  parts: SignedPart[],
  need: (message: string) => void,
): void {
  const has = (from: Parameters<typeof partsFrom>[1]) => partsFrom(parts, from).length > 0;
  // A checksum notices accidents: whoever wants to can make another body that has the same.
  const whole = parts.some((part) => isBody(part) && typeof part !== 'string' && part.as !== 'crc32');
  if (has('fields') && !value.fields) need('a rule `fields` beside a template with {fields}');
  if (has('item') && value.each === undefined) need('a list `each` beside a template with {item.path}');
  const secret = has('secret') || (has('fields') && value.fields?.secret_as !== undefined);
  if (scheme === 'hash' && !secret) need('the {secret}: without it anyone could compute the hash');
  if (scheme !== 'hash' && has('secret')) need('no {secret}: this scheme has its key beside what is signed');
  if (parts.some(isBody) && (value.body !== undefined || value.item !== undefined))
    need('no {body} where the signature stands in the body itself');
  const form = has('form') || (has('fields') && (!value.fields || everyField(value)));
  if (!whole && !form && !value.partial)
    need('{body}, or `partial: true` beside it where the sender signs only parts of a request');
  checkTime(value, parts, whole, need);
}

/** Whether {fields} is all that a body holds: a form but for the signature. JSON also has lists, objects and nulls. */
function everyField({ fields, body }: z.infer<typeof mac>): boolean {
  if (fields?.from !== 'form' || fields.begin !== '') return false;
  return fields.except.every((name) => body !== undefined && splitPath(body)[0] === name);
}

/** A time that is not signed could be renewed by anyone. */
function checkTime(
  { timestamp: rule }: z.infer<typeof mac>,
  parts: SignedPart[],
  whole: boolean,
  need: (message: string) => void,
): void {
  const names = (from: 'header' | 'query' | 'body', path: string[]) =>
    partsFrom(parts, from).some((part) => JSON.stringify(part.path) === JSON.stringify(path));
  const covered = partsFrom(parts, 'timestamp').length > 0;
  if (!rule) {
    if (covered) need('a timestamp rule beside a template with {timestamp}');
    return;
  }
  const signed =
    covered ||
    (rule.body !== undefined && (whole || names('body', splitPath(rule.body)))) ||
    (rule.header !== undefined && names('header', [rule.header])) ||
    (rule.query !== undefined && names('query', [rule.query]));
  if (!signed) need('{timestamp} in the template, else anyone may renew the time');
}
