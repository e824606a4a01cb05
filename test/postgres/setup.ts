import type { TestProject } from 'vitest/node';
import { startCluster } from './harness/cluster.ts';
import './harness/database.ts';

/** One Postgres for the whole run; vitest calls what this returns when the run is over. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { cluster, stop } = await startCluster();
  project.provide('postgres', cluster);
  return stop;
}
