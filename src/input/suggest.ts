/** Edits (insert, delete, replace, swap of neighbours) between two words. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}

const plain = (word: string): string => word.toLowerCase().replace(/[-_ ]/g, '');

/**
 * The known word that was probably meant: case, dashes and underscores do not count, and about one edit in
 * three letters is forgiven. Undefined where none is near.
 */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  const wanted = plain(word);
  // Longer than any name of ours: no near one, and the comparison would cost its square.
  if (wanted.length === 0 || wanted.length > 60) return undefined;
  let best: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const edits = distance(wanted, plain(candidate));
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best;
}

/** A word of the user's as it may stand in a message: cut, and quoted where it is not a plain name. */
export function printable(word: string): string {
  const cut = word.length > 40 ? `${word.slice(0, 37)}...` : word;
  return /^[\w.-]+$/.test(cut) ? cut : JSON.stringify(cut);
}
