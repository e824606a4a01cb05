import { isIPv6 } from 'node:net';

/** An IPv4 network: its first address as an unsigned number, and the length of its prefix in bits. */
export interface Block {
  first: number;
  prefix: number;
}

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const pattern = new RegExp(`^${octet}\\.${octet}\\.${octet}\\.${octet}/(3[0-2]|[12]?[0-9])$`);

/** An IPv4 network such as `10.0.0.0/16`; undefined where the text is none or has bits beyond its prefix. */
export function parseBlock(text: string): Block | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, prefix = 0] = match.slice(1).map(Number);
  const first = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
  return first % sizeOf(prefix) === 0 ? { first, prefix } : undefined;
}

/** `10.0.0.0/16`, the form that `parseBlock` reads. */
export function formatBlock({ first, prefix }: Block): string {
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256);
  return `${octets.join('.')}/${prefix}`;
}

/** How many addresses a prefix leaves. */
export function sizeOf(prefix: number): number {
  return 2 ** (32 - prefix);
}

/** A block's equal parts, each `bits` longer in the prefix: 2^bits of them, in order. */
export function split(block: Block, bits: number): Block[] {
  const prefix = block.prefix + bits;
  return Array.from({ length: 2 ** bits }, (_, index) => ({
    first: block.first + index * sizeOf(prefix),
    prefix,
  }));
}

/** Whether the text is an IPv6 network such as `2001:db8::/48`, and the length of its prefix; else undefined. */
export function ipv6Prefix(text: string): number | undefined {
  const [address = '', prefix = '', ...rest] = text.split('/');
  if (rest.length > 0 || !isIPv6(address) || address.includes('%')) return undefined;
  return /^(12[0-8]|1[01][0-9]|[1-9]?[0-9])$/.test(prefix) ? Number(prefix) : undefined;
}
