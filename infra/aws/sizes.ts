/** What a named size means for each kind of server. One ACU of Aurora is about 2 GiB with its CPU. */
export interface Size {
  instance: { class: string; memoryGib: number };
  aurora: { minAcu: number; maxAcu: number };
}

/** The named sizes, smallest first. docs/provisioning-aws.md says what each costs. */
export const sizes = {
  tiny: { instance: { class: 'db.t4g.micro', memoryGib: 1 }, aurora: { minAcu: 0.5, maxAcu: 1 } },
  small: { instance: { class: 'db.t4g.small', memoryGib: 2 }, aurora: { minAcu: 0.5, maxAcu: 2 } },
  medium: { instance: { class: 'db.t4g.medium', memoryGib: 4 }, aurora: { minAcu: 0.5, maxAcu: 4 } },
  large: { instance: { class: 'db.m7g.large', memoryGib: 8 }, aurora: { minAcu: 1, maxAcu: 8 } },
} as const satisfies Record<string, Size>;

export type SizeName = keyof typeof sizes;
export type ServerKind = 'instance' | 'aurora';

const gibPerAcu = 2;
const connectionsPerGib = 50;

/** The memory that a server has, or may grow to, in GiB. */
export function memoryGib(server: ServerKind, size: SizeName): number {
  const { instance, aurora } = sizes[size];
  return server === 'aurora' ? aurora.maxAcu * gibPerAcu : instance.memoryGib;
}

/**
 * The `max_connections` that is set. AWS's own default comes from the memory that is left after its agents, a
 * number that nobody can alarm on; this one is well below it and the same on every day.
 */
export function maxConnections(server: ServerKind, size: SizeName): number {
  return memoryGib(server, size) * connectionsPerGib;
}
