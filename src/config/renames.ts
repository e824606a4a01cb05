/** A source that is gone, and new ones of the same provider: perhaps one source under another name. */
export interface Rename {
  /** The id of the source that is gone. */
  gone: string;
  /** The names of the new sources. */
  added: string[];
}

/**
 * The sources that may have been renamed without keeping their id. A source that is gone and whose provider nobody
 * knows may be any of the new ones.
 */
export function findRenames(
  gone: readonly { id: string; provider?: string }[],
  added: readonly { name: string; provider: string }[],
): Rename[] {
  return gone.flatMap(({ id, provider }) => {
    const names = added
      .filter((source) => provider === undefined || source.provider === provider)
      .map(({ name }) => name);
    return names.length > 0 ? [{ gone: id, added: names }] : [];
  });
}

/** What a rename without an id leads to, and what to do instead. */
export function renameWarning({ gone, added }: Rename): string {
  const [first = '', ...others] = added;
  const which = others.length > 0 ? `the one that ${gone} became` : first;
  return (
    `${gone} is gone and ${added.join(', ')} ${others.length > 0 ? 'are' : 'is'} new: if you renamed it, add ` +
    `\`id: ${gone}\` under ${which}, and a \`path\` if the sender still calls the old address; otherwise a new ` +
    `source begins without events and secrets, and deliveries to ${gone} are rejected (401) from \`migrate\` on.`
  );
}
