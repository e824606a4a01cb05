import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeAuthority } from './harness/certificate.ts';

test('the certificate is one of the authority, for the host alone', () => {
  const { ca, certificate } = makeAuthority('db.example.com');
  const [authority, server] = [new X509Certificate(ca), new X509Certificate(certificate)];
  expect(authority.ca).toBe(true);
  expect(server.ca).toBe(false);
  expect(server.verify(authority.publicKey)).toBe(true);
  expect(server.checkHost('db.example.com')).toBe('db.example.com');
  expect(server.checkHost('other.example.com')).toBe(undefined);
});
