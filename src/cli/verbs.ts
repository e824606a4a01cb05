import type { Command } from 'commander';

/** Adds arguments, options, help and action to its command; `done` tells the exit status where it is not 0. */
export type Verb = (command: Command, done: (status: number) => void) => void;

/** Every verb, in the order of the help; a verb's file is loaded when it is called. */
export const verbs: Record<string, { summary: string; load: () => Promise<{ default: Verb }> }> = {
  dev: {
    summary: 'run everything on this machine: Postgres, schema, workflows, and a proof that duplicates stop',
    load: () => import('./verbs/dev.ts'),
  },
  generate: {
    summary: 'write the n8n workflows that oncehook.yaml describes',
    load: () => import('./verbs/generate.ts'),
  },
  migrate: {
    summary: 'bring a database up to date: schema, role of n8n, sources',
    load: () => import('./verbs/migrate.ts'),
  },
  providers: {
    summary: 'list, search and show the senders that are known',
    load: () => import('./verbs/providers.ts'),
  },
  secrets: {
    summary: 'store, list and retire signing secrets',
    load: () => import('./verbs/secrets.ts'),
  },
  send: {
    summary: 'send signed deliveries to a source',
    load: () => import('./verbs/send.ts'),
  },
  status: {
    summary: 'show how each source is doing',
    load: () => import('./verbs/status.ts'),
  },
};
