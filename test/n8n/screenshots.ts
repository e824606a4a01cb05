import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ensurePostgresCredential } from '../../src/n8n/credentials.ts';
import { importWorkflow } from '../../src/n8n/workflows.ts';
import { type Account, setUpOwner } from './harness/account.ts';
import { startN8n } from './harness/n8n.ts';
import { createDatabase, loginOf, startPostgres } from './harness/postgres.ts';
import { installN8n } from './install.ts';

const USAGE =
  'node test/n8n/screenshots.ts --workflows <folder of *.json> --out <folder> [--width 2400] [--height 1200]';

/**
 * Opens every workflow file of a folder in a real n8n's editor, fits it into the window and writes a PNG of the
 * canvas. Needs Debian's chromium, or another one in CHROMIUM.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      workflows: { type: 'string' },
      out: { type: 'string' },
      width: { type: 'string', default: '2400' },
      height: { type: 'string', default: '1200' },
    },
  });
  if (!values.workflows || !values.out) throw new Error(USAGE);
  const folder = resolve(values.workflows);
  const out = resolve(values.out);
  const size = { width: Number(values.width), height: Number(values.height) };
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  await mkdir(out, { recursive: true });
  await withN8n(async (account) => {
    const browser = await launch();
    try {
      const page = await logIn(browser, account, size);
      for (const name of files) {
        const file = JSON.parse(await readFile(join(folder, name), 'utf8'));
        await ensureCredentials(account, file);
        const { id } = await importWorkflow(account, file);
        const png = join(out, name.replace(/\.json$/, '.png'));
        await capture(page, `${account.url}/workflow/${id}`, png);
        console.log(png);
      }
    } finally {
      await browser.close();
    }
  });
}

async function withN8n(work: (account: Account) => Promise<void>): Promise<void> {
  await installN8n((line) => console.error(line));
  const folder = await mkdtemp(join(tmpdir(), 'oncehook-screenshots-'));
  const postgres = await startPostgres(folder);
  try {
    const databaseUrl = await createDatabase(postgres.urlFor('postgres'), 'n8n');
    const n8n = await startN8n({ databaseUrl, folder: join(folder, 'n8n') });
    try {
      await work(await setUpOwner(n8n.url));
    } finally {
      await n8n.stop();
    }
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every credential that the nodes name, so that n8n draws no warnings. */
async function ensureCredentials(
  account: Account,
  file: { nodes: { credentials?: object }[] },
): Promise<void> {
  const names = file.nodes.flatMap(({ credentials }) =>
    Object.entries(credentials ?? {}).flatMap(([type, { name }]) =>
      type === 'postgres' ? [name as string] : [],
    ),
  );
  const nowhere = loginOf('postgresql://nobody:nothing@127.0.0.1:5432/nowhere');
  for (const name of new Set(names)) await ensurePostgresCredential(account, name, nowhere);
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--no-first-run'],
  });
}

async function logIn(
  browser: Browser,
  account: Account,
  viewport: { width: number; height: number },
): Promise<Page> {
  const context = await browser.newContext({ viewport, colorScheme: 'light', baseURL: account.url });
  const [name = '', value = ''] = account.cookie.split('=');
  await context.addCookies([{ name, value, url: account.url }]);
  const page = await context.newPage();
  await page.goto('/signin');
  return page;
}

/** Runs in the page: nothing fades in any longer, and the canvas has not moved since the last look. */
const SETTLED = `(() => {
  let opacity = 1;
  const node = document.querySelector('.vue-flow__node');
  for (let one = node; one; one = one.parentElement) opacity *= Number(getComputedStyle(one).opacity);
  const { x, y, width } = node.getBoundingClientRect();
  const place = [x, y, width].join();
  const still = window.lastPlace === place;
  window.lastPlace = place;
  return still && opacity === 1;
})()`;

async function capture(page: Page, url: string, png: string): Promise<void> {
  await page.goto(url);
  await page.locator('.vue-flow__node').first().waitFor({ timeout: 60_000 });
  await page.keyboard.press('Escape');
  await page.keyboard.press('1');
  await page.waitForFunction(SETTLED, undefined, { polling: 250 });
  await page.screenshot({ path: png });
}

await main();
