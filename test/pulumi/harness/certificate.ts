import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A private authority, and a server's certificate that it signed; all in PEM. */
export interface Authority {
  ca: string;
  certificate: string;
  key: string;
}

/**
 * Makes an authority and a certificate for a host (X.509 version 3, RFC 5280; ECDSA on P-256 with SHA-256), valid
 * for a day. Node can sign but not write certificates, and a key in the repository would be found by scanners.
 */
export function makeAuthority(host: string): Authority {
  const ca = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    ca: certify({ subject: 'Test authority', key: ca.publicKey, signer: ca.privateKey, extension: IS_CA }),
    certificate: certify({
      subject: host,
      key: server.publicKey,
      signer: ca.privateKey,
      extension: altName(host),
    }),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

interface Wish {
  subject: string;
  key: KeyObject;
  signer: KeyObject;
  extension: Buffer;
}

function certify({ subject, key, signer, extension }: Wish): string {
  const day = 86_400_000;
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name('Test authority'),
    sequence(time(Date.now() - day), time(Date.now() + day)),
    name(subject),
    key.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(extension)),
  );
  const signature = sign('sha256', body, createPrivateKey(signer.export({ type: 'pkcs8', format: 'pem' })));
  const der = sequence(body, ECDSA_SHA256, tagged(0x03, Buffer.from([0]), signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** One value of DER: its tag, its length, its content. */
function tagged(tag: number, ...content: Buffer[]): Buffer {
  const inner = Buffer.concat(content);
  const { length } = inner;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), inner]);
}

function sequence(...content: Buffer[]): Buffer {
  return tagged(0x30, ...content);
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

function name(common: string): Buffer {
  return sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from(common)))));
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return tagged(0x17, Buffer.from(`${text}Z`));
}

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
/** basicConstraints, critical: CA. */
const IS_CA = sequence(
  oid('551d13'),
  tagged(0x01, Buffer.from([255])),
  tagged(0x04, sequence(tagged(0x01, Buffer.from([255])))),
);

/** subjectAltName: a DNS name. */
function altName(host: string): Buffer {
  return sequence(oid('551d11'), tagged(0x04, sequence(tagged(0x82, Buffer.from(host)))));
}
