/**
 * The names of the secrets that a text holds: in clear, in hexadecimal, percent-encoded, or in base64, alone or
 * anywhere inside a longer text.
 */
export function leaks(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => spellings(secret).some((spelling) => text.includes(spelling)))
    .map(([name]) => name);
}

function spellings(secret: string): string[] {
  if (secret.length < 8) throw new Error('too short to be looked for');
  const bytes = Buffer.from(secret);
  // Three bytes make four letters, so there are three ways in which a text can fall into base64; the letters at both
  // ends depend on what stands beside it.
  const base64 = [0, 1, 2].flatMap((shift) => {
    const coded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const inner = coded.slice(shift === 0 ? 0 : shift + 1, Math.floor((shift + bytes.length) / 3) * 4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [secret, encodeURIComponent(secret), bytes.toString('hex'), ...base64];
}
