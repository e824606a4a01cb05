/** A part of a request: a header, a parameter, any byte of the body, a value in it, or what both sides know. */
export type Part =
  | { header: string }
  | { query: string }
  | { path: string[] }
  | { field: string }
  | { fieldName: string }
  | 'body'
  | 'secret'
  | 'url';

/** A way to sign, with a request that is signed that way. */
export interface Scheme {
  signature: object;
  body: string;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  secret?: string;
  /** Every part that the signature covers, and those that it stands in. */
  covered: Part[];
  /** Parts that can be changed unseen. */
  free?: Part[];
}

export const URL_SIGNED = 'https://n8n.example.com/webhook/in?shop=1';
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_BODY = '{"id":"e1","n":10,"ok":true,"list":[1],"note":"caf\\u00e9 1.0 \\/ é"}\n';
const FORM_BODY = 'To=%2B1555&From=%2B1666&Body=h%C3%A9+llo&Body=again&Empty=';
const x = { header: 'x-sig' };
const hmac = (more: object) => ({ scheme: 'hmac', header: 'x-sig', ...more });
const hash = (more: object) => ({ scheme: 'hash', header: 'x-sig', ...more });
const formFields: Part[] = ['To', 'From', 'Empty'].flatMap((name) => [{ field: name }, { fieldName: name }]);

/** Every scheme, every place and every part of a template, each at least once. */
export const schemes: Record<string, Scheme> = {
  'sha1, prefix': {
    signature: hmac({ hash: 'sha1', prefix: 'sha1=' }),
    body: JSON_BODY,
    covered: ['body', 'secret', x],
    free: [{ query: 'q' }],
  },
  'sha256, base64': {
    signature: hmac({ encoding: 'base64' }),
    body: JSON_BODY,
    covered: ['body', 'secret', x],
  },
  'sha384, base64': {
    signature: hmac({ hash: 'sha384', encoding: 'base64' }),
    body: JSON_BODY,
    covered: ['body', 'secret', x],
  },
  'sha512, base64, in lines elsewhere': {
    signature: hmac({ hash: 'sha512', encoding: 'base64' }),
    body: JSON_BODY,
    covered: ['body', 'secret', x],
  },
  'sha512, a long secret, pairs and a time': {
    signature: hmac({
      hash: 'sha512',
      pairs: { separator: ',', name: 'v1' },
      signed: '{timestamp}.{body}',
      timestamp: { pair: 't' },
    }),
    body: JSON_BODY,
    secret: 'k'.repeat(150),
    covered: ['body', 'secret', x],
  },
  'base64url, milliseconds': {
    signature: hmac({
      encoding: 'base64url',
      pairs: { separator: ',', name: 'v1' },
      signed: '{timestamp}.{body}',
      timestamp: { pair: 't', unit: 'ms' },
    }),
    body: JSON_BODY,
    covered: ['body', 'secret', x],
  },
  'a time in a header': {
    signature: hmac({ prefix: 'v0=', signed: 'v0:{timestamp}:{body}', timestamp: { header: 'x-time' } }),
    body: JSON_BODY,
    covered: ['body', 'secret', x, { header: 'x-time' }],
  },
  'a header, and the secret in base64': {
    signature: hmac({
      encoding: 'base64',
      pairs: { separator: ' ', name: 'v1', equals: ',' },
      secret_encoding: 'base64',
      secret_prefix: 'whsec_',
      signed: '{header.x-id}.{timestamp}.{body}',
      timestamp: { header: 'x-time', future: 'refuse' },
    }),
    body: JSON_BODY,
    headers: { 'x-id': 'evt_1' },
    secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
    covered: ['body', x, { header: 'x-time' }, { header: 'x-id' }],
  },
  'the address': {
    signature: hmac({ encoding: 'base64', signed: '{url}{body}' }),
    body: JSON_BODY,
    covered: ['body', 'secret', 'url', x],
  },
  'method, address, body and time': {
    signature: hmac({
      encoding: 'base64',
      signed: 'POST{url}{body}{timestamp}',
      timestamp: { header: 'x-time', unit: 'ms' },
    }),
    body: JSON_BODY,
    covered: ['body', 'secret', 'url', x, { header: 'x-time' }],
  },
  'the fields of a form': {
    signature: hmac({ hash: 'sha1', encoding: 'base64', signed: '{url}{fields}', fields: { from: 'form' } }),
    body: FORM_BODY,
    headers: form,
    covered: ['secret', 'url', x, { field: 'Body' }, ...formFields],
  },
  'the hash of the body': {
    signature: hmac({ hash: 'sha1', encoding: 'base64', signed: '{url}?bodySHA256={body|sha256}' }),
    body: JSON_BODY,
    covered: ['body', 'secret', 'url', x],
  },
  'each element of a list': {
    signature: {
      scheme: 'hmac',
      item: 'item.more.sig',
      each: 'items',
      encoding: 'base64',
      secret_encoding: 'hex',
      partial: true,
      signed: '{item.item.ref}:{item.item.old?}:{item.item.amount.value}:{item.item.ok}',
    },
    body: '{"items":[{"item":{"ref":"r1","amount":{"value":1130},"ok":true,"x":"1"}},{"item":{"ref":"r2","old":"r1","amount":{"value":5},"ok":false}}]}',
    secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
    covered: [0, 1].flatMap((index) =>
      [['ref'], ['amount', 'value'], ['ok'], ['more', 'sig'], ...(index ? [['old']] : [])].map((path) => ({
        path: ['items', `${index}`, 'item', ...path],
      })),
    ),
    free: [{ path: ['items', '0', 'item', 'x'] }],
  },
  'a parameter and a header, some of them absent': {
    signature: hmac({
      pairs: { separator: ',', name: 'v1' },
      partial: true,
      signed: [
        'id:{query."data.id"|lower};request-id:{header.x-request-id};ts:{timestamp};',
        'id:{query."data.id"|lower};ts:{timestamp};',
      ],
      timestamp: { pair: 'ts', unit: 'auto', tolerance: 'none' },
    }),
    body: JSON_BODY,
    headers: { 'x-request-id': 'bb56-a2f1' },
    query: { 'data.id': '123456' },
    covered: ['secret', x, { header: 'x-request-id' }, { query: 'data.id' }],
    free: ['body'],
  },
  'signature and time in the body': {
    signature: {
      scheme: 'hmac',
      body: 'signature.signature',
      partial: true,
      signed: '{timestamp}{body.signature.token}',
      timestamp: { body: 'signature.timestamp' },
    },
    body: '{"signature":{"token":"a8ce0edb2dd8","timestamp":"1"},"event":{"id":"e1"}}',
    covered: [
      'secret',
      ...['signature', 'token', 'timestamp'].map((name) => ({ path: ['signature', name] })),
    ],
    free: [{ path: ['event', 'id'] }],
  },
  'a time in the signed body': {
    signature: hmac({ timestamp: { body: 'at', unit: 'ms', tolerance: 60 } }),
    body: '{"id":"e1","at":1}',
    covered: ['body', 'secret', x, { path: ['at'] }],
  },
  'sorted values of JSON with the secret among them': {
    signature: {
      ...{ scheme: 'hash', hash: 'sha256', body: 'Token', partial: true, signed: '{fields}' },
      fields: { from: 'json', write: '{value}', except: ['Token'], secret_as: 'Password' },
    },
    body: '{"TerminalKey":"T","Amount":1000,"Success":true,"Data":{"x":"1"},"Text":"é"}',
    covered: [
      'secret',
      ...['Token', 'TerminalKey', 'Amount', 'Success', 'Text'].map((name) => ({ path: [name] })),
    ],
    free: [{ path: ['Data', 'x'] }],
  },
  'values written as JSON': {
    signature: {
      ...{ scheme: 'hash', hash: 'sha384', body: 'sign', partial: true },
      signed: '{{"id":{body.id|json},"text":{body.text|json},"crc":{secret|json}}}',
    },
    body: '{"id":1000,"text":"a \\"quote\\" / é","other":"x"}',
    covered: ['secret', { path: ['id'] }, { path: ['text'] }, { path: ['sign'] }],
    free: [{ path: ['other'] }],
  },
  'md5 after the body': {
    signature: hash({ hash: 'md5', pairs: { separator: ';', name: 'signature' }, signed: '{body}{secret}' }),
    body: JSON_BODY,
    covered: ['body', 'secret', x],
  },
  'values and fields of a form': {
    signature: {
      ...{ scheme: 'hash', hash: 'md5', body: 'Sig', partial: true },
      signed: '{body.Sum}:{body.Id}:{secret}{fields}',
      fields: { from: 'form', begin: 'Shp_', write: ':{name}={value}' },
    },
    body: 'Sum=490.000000&Id=1001&Shp_b=7&Shp_a=A1&Fee=3',
    headers: form,
    covered: [
      'secret',
      ...['Sum', 'Id', 'Shp_a', 'Shp_b', 'Sig'].map((field) => ({ field })),
      ...['Sum', 'Id', 'Shp_a', 'Shp_b', 'Sig'].map((fieldName) => ({ fieldName })),
    ],
    free: [{ field: 'Fee' }],
  },
  'sha1 before the body': {
    signature: hash({ hash: 'sha1', signed: '{secret}POST{url}{body}' }),
    body: JSON_BODY,
    covered: ['body', 'secret', 'url', x],
  },
  'sha512 with names and separators, in a parameter': {
    signature: {
      ...{ scheme: 'hash', hash: 'sha512', query: 'sign', signed: '{fields}&key={secret}' },
      fields: { from: 'form', write: '{name}={value}', between: '&' },
    },
    body: FORM_BODY,
    headers: form,
    covered: ['secret', { query: 'sign' }, { field: 'Body' }, ...formFields],
  },
  'a second header': {
    signature: hmac({ header: 'x-sig-2', more_headers: ['x-sig'] }),
    body: JSON_BODY,
    covered: ['body', 'secret', { header: 'x-sig-2' }],
  },
  'token in a header': {
    signature: { scheme: 'token', header: 'x-sig', prefix: 'Bearer ' },
    body: JSON_BODY,
    covered: ['secret', x],
    free: ['body'],
  },
  'token in a parameter': {
    signature: { scheme: 'token', query: 'token' },
    body: JSON_BODY,
    covered: ['secret', { query: 'token' }],
    free: ['body'],
  },
  'token in a form': {
    signature: { scheme: 'token', body: 'auth[application_token]' },
    body: 'event=X',
    headers: form,
    covered: ['secret', { field: 'auth[application_token]' }, { fieldName: 'auth[application_token]' }],
    free: [{ field: 'event' }],
  },
  'token in each element': {
    signature: { scheme: 'token', item: 'clientState', each: 'value' },
    body: '{"value":[{"id":"1"},{"id":"2"}]}',
    covered: ['secret', { path: ['value', '0', 'clientState'] }, { path: ['value', '1', 'clientState'] }],
    free: [{ path: ['value', '1', 'id'] }],
  },
  basic: {
    signature: { scheme: 'basic' },
    body: JSON_BODY,
    secret: 'user:pass word',
    covered: ['secret', { header: 'authorization' }],
    free: ['body'],
  },
};
