import { randomBytes } from 'node:crypto';

/** The fields of a form as multipart/form-data, byte for byte; the content type names the boundary. */
export function multipart(form: Uint8Array): { contentType: string; body: Buffer } {
  const boundary = `oncehook${randomBytes(12).toString('hex')}`;
  const fields = [...new URLSearchParams(Buffer.from(form).toString())];
  // As browsers write names.
  const escaped = (name: string) =>
    name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value}\r\n`,
  );
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
  };
}

/** A request as it goes over the wire: a multipart form is signed as the other kind of form, and sent as what it is. */
export function onTheWire<T extends { headers: Record<string, string>; body: Uint8Array }>(request: T): T {
  if (request.headers['content-type'] !== 'multipart/form-data') return request;
  const { contentType, body } = multipart(request.body);
  return { ...request, headers: { ...request.headers, 'content-type': contentType }, body };
}
