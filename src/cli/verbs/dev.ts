import { EXIT } from '../failure.ts';
import { type CommonOptions, common, wholeNumber } from '../options.ts';
import { processOutput } from '../output.ts';
import type { Verb } from '../verbs.ts';

interface Options extends CommonOptions {
  once?: boolean;
  port?: number;
  listen?: string;
}

/** `oncehook dev` and `npm start`: everything on this machine, then every delivery as it comes. */
const devVerb: Verb = (command, done) => {
  common(command, 'dev', 'dev --once', 'dev --listen 172.17.0.1')
    .option('--once', 'end after the proof')
    .option('--port <number>', 'where Postgres listens (default: 54329)', wholeNumber(1, 65_535))
    .option(
      '--listen <address>',
      'an address beside 127.0.0.1 that Postgres listens on, for n8n in a container',
    )
    .action(async ({ json = false, config, once = false, port, listen }: Options) => {
      const { dev } = await import('../dev/run.ts');
      const status = await dev({ config, once, port, listen }, processOutput(json));
      if (status !== EXIT.done) done(status);
    });
};
export default devVerb;
