import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import { issuesOf } from './issues.ts';

const issues = (text: string) => issuesOf(() => parseConfig(text, 'c.yaml'));
const source = (rest: string) => issues(`project: a\nsources:\n  my-shop: { provider: p, ${rest} }\n`);

describe('the remedy', () => {
  it.each(['15', '1.5', 'true'])('for the lease %s shows a duration', (value) => {
    expect(source(`lease: ${value}`)[0]?.expected).toContain('15m');
  });

  it('for a number in a duration’s place is a unit', () => {
    expect(source('retention: 90')[0]?.remedy).toContain('unit');
  });

  it.each(['SHOP_SECRET', 'whsec_abcdefghijklmnop'])(
    'for secrets that are the text %s is a list',
    (value) => {
      expect(source(`secrets: ${value}`)[0]?.remedy).toContain('`secrets: [NAME]`');
    },
  );

  it('for a literal secret names a variable that is one', () => {
    const [{ remedy = '' } = {}] = source('secrets: [whsec_abcdefghijklmnop]');
    const [, variable] = /secrets: \[(\w+)\]/.exec(remedy) ?? [];
    expect(variable).toBe('MY_SHOP_WEBHOOK_SECRET');
    expect(remedy).toContain(`export ${variable}=`);
  });

  it.each([
    ['database', 'postgres://u:p@h/db', 'ONCEHOOK_DATABASE_URL'],
    ['n8n_password', 'hunter-2', 'ONCEHOOK_N8N_PASSWORD'],
  ])('for a literal value of %s names its own variable and no other', (setting, value, variable) => {
    const [found] = issues(`project: a\n${setting}: ${value}\nsources: {}\n`);
    expect(found?.expected).toContain(variable);
    expect(found?.remedy).toContain(variable);
    expect(`${found?.expected}${found?.remedy}`).not.toContain('SHOP');
  });

  it.each(['/shop', '/webhook/shop', 'https://n8n.example.com/webhook/shop'])(
    'for the path %s is to leave out what n8n adds',
    (path) => {
      expect(source(`path: ${path}`)[0]?.remedy).toContain('`webhook/`');
      expect(source('path: "a b"')[0]?.remedy).not.toContain('`webhook/`');
    },
  );

  it('for a source one level too far out is the place where it belongs, and that is the only issue', () => {
    const found = issues('project: a\nsources:\nshop:\n  provider: custom\n');
    expect(found.map(({ path, line }) => [path, line])).toEqual([['shop', 3]]);
    expect(found[0]?.remedy).toContain('`sources:`');
    expect(issues('project: a\nsources: {}\nshop: 1\n')[0]?.remedy).not.toContain('`sources:`');
    expect(issues('project: a\nsources:\n')[0]?.path).toBe('sources');
  });
});
