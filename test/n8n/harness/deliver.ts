import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface DeliveryOptions {
  method?: string;
  /** Sent byte for byte; text as UTF-8. */
  body?: Buffer | string;
  /** Nothing is added but Host, Connection and Content-Length. */
  headers?: Record<string, string | string[]>;
  /** Reuse connections, as a load test wants it. */
  agent?: Agent;
  /** Milliseconds until the request is given up. */
  timeout?: number;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** The header `Oncehook-Outcome`; undefined where n8n itself answered. */
  outcome: string | undefined;
  /** Milliseconds from sending to the answer's last byte. */
  took: number;
}

const lonely = new Agent({ keepAlive: false });

/** One HTTP request with exactly these bytes and headers. Rejects where the connection breaks. */
export function deliver(url: string, options: DeliveryOptions = {}): Promise<Answer> {
  const { method = 'POST', body = '', headers = {}, agent = lonely, timeout = 60_000 } = options;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  const began = performance.now();
  return new Promise((done, fail) => {
    const outgoing = request(url, {
      method,
      agent,
      timeout,
      headers: { ...headers, 'Content-Length': String(bytes.length) },
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error(`No answer from ${url} within ${timeout} ms`)));
    outgoing.once('error', fail);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', fail);
      response.once('end', () => {
        const outcome = response.headers['oncehook-outcome'];
        done({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
          outcome: typeof outcome === 'string' ? outcome : undefined,
          took: performance.now() - began,
        });
      });
    });
    outgoing.end(bytes);
  });
}
