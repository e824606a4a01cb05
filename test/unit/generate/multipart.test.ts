import { expect, test } from 'vitest';
import { multipart } from '../../../src/cli/send/multipart.ts';
import { sourceWorkflow } from '../../../src/generate/source/workflow.ts';
import { loadProvider } from '../../../src/providers/load.ts';
import { providerSchema } from '../../../src/providers/schema.ts';
import { resolved, STATEMENTS } from './sources.ts';

test('a multipart form is handed on by its fields, in a workflow that is otherwise the same', () => {
  const source = resolved('form', { provider: 'prodamus', secrets: ['A'] });
  const plain = { ...source, providerFile: { ...source.providerFile, content_type: 'application/json' } };
  const [form, other] = [sourceWorkflow(source, STATEMENTS), sourceWorkflow(plain, STATEMENTS)];
  expect(form.connections).toEqual(other.connections);
  const differing = form.nodes.filter(
    (node, index) => JSON.stringify(node) !== JSON.stringify(other.nodes[index]),
  );
  expect(differing.map(({ name, type }) => [name, type])).toEqual([['Raw body', 'n8n-nodes-base.set']]);
});

test.each(['{body}', '{timestamp}.{body}', '{body|sha256}'])(
  'bytes that n8n does not have cannot be signed: %s',
  (signed) => {
    const { slug: _, ...provider } = loadProvider('prodamus');
    const signature = {
      ...{ scheme: 'hmac', header: 'sign', signed },
      ...(signed.includes('timestamp') ? { timestamp: { header: 'x-time' } } : {}),
    };
    expect(providerSchema.safeParse(provider).success).toBe(true);
    const found = providerSchema.safeParse({ ...provider, signature });
    expect(found.error?.issues.map(({ path }) => path)).toEqual([['content_type']]);
  },
);

test('a multipart body is read back as it was', async () => {
  const fields = [
    ['a[0][b]', 'é\r\n--x--\n"'],
    ['c"d', ''],
    ['a[0][b]', '2'],
  ] as [string, string][];
  const { contentType, body } = multipart(Buffer.from(new URLSearchParams(fields).toString()));
  const form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData();
  expect([...form]).toEqual(fields);
});
