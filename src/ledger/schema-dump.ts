import type pg from 'pg';
import { readTemplate } from '../templates.ts';

const PARTS: Record<number, string> = {
  1: 'Tables and types',
  2: 'Views',
  3: 'Functions',
  4: 'Grants',
};

/**
 * The schema `oncehook` as a database has it, as SQL text for a reader: tables, views, functions and what
 * roles are granted. Made from the catalogue, so that it shows what the migrations add up to.
 */
export async function dumpSchema(client: pg.ClientBase): Promise<string> {
  // Names are printed without their schema where it is on the search path.
  await client.query("SET search_path = ''");
  const { rows } = await client.query<{ part: number; text: string }>(readTemplate('sql/ledger-schema.sql'));
  await client.query('RESET search_path');
  const lines = [
    '-- The schema as the migrations leave it. Written by the tests, for reading: migrations are what runs.',
  ];
  let part = 0;
  for (const row of rows) {
    if (row.part !== part) lines.push(`\n-- ${PARTS[row.part]}\n`);
    else lines.push('');
    part = row.part;
    lines.push(row.text.replaceAll('\r\n', '\n').trimEnd());
  }
  return `${lines.join('\n')}\n`;
}
