import { canonical } from '../../workflow/serialise.ts';
import type { Json } from '../../workflow/types.ts';

const MOST = 80;
const AROUND = 20;

/** Two values as short texts that show where they differ. */
export function shown(mine: Json | undefined, ours: Json | undefined): { yours: string; generated: string } {
  const [yours, generated] = [plain(mine), plain(ours)];
  let same = 0;
  while (same < yours.length && yours.charAt(same) === generated.charAt(same)) same += 1;
  const from = Math.max(yours.length, generated.length) <= MOST ? 0 : Math.max(0, same - AROUND);
  return { yours: cut(yours, from), generated: cut(generated, from) };
}

function plain(value: Json | undefined): string {
  if (value === undefined) return '(nothing)';
  return typeof value === 'string' ? value : canonical(value);
}

function cut(text: string, from: number): string {
  const end = from + MOST;
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${end < text.length ? '…' : ''}`;
}
