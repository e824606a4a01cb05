import { loadContext } from '../context.ts';
import { findDatabase } from '../database.ts';
import { type CommonOptions, common, type DatabaseOptions, onDatabase, wholeNumber } from '../options.ts';
import { processOutput } from '../output.ts';
import type { Verb } from '../verbs.ts';

interface Options extends CommonOptions, DatabaseOptions {
  events: number;
}

/** `oncehook status`: each source's counts, last events, and what they mean. */
const statusVerb: Verb = (command) => {
  onDatabase(common(command, 'status', 'status --json'))
    .option(
      '--events <n>',
      'how many events of each source to show: those that are not done first, then the last ones',
      wholeNumber(0, 1_000),
      5,
    )
    .action(async ({ json = false, config, events, ...choice }: Options) => {
      const context = await loadContext(config);
      const target = await findDatabase(context, choice);
      const { connect } = await import('../../ledger/connect.ts');
      const { readStatus } = await import('../../ledger/status.ts');
      const { hints, statusText } = await import('../status-text.ts');
      const client = await connect(target.url, { setting: target.setting });
      try {
        const sources = await readStatus(client, { events });
        const out = processOutput(json);
        const leases = new Map(context.sources.map(({ id, leaseSeconds }) => [id, leaseSeconds]));
        const told = sources.map((source) => ({ ...source, hints: hints(source, leases.get(source.id)) }));
        out.result({ ok: true, database: target.name, sources: told }, () =>
          statusText(target.name, told, out),
        );
      } finally {
        await client.end();
      }
    });
};
export default statusVerb;
