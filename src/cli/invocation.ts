/** How the user runs Oncehook, for hints that can be pasted. */
export function invocation(from: { url: string } = import.meta): string {
  // From a clone the sources run as they are; the package holds what was compiled from them.
  return from.url.endsWith('.ts') ? 'npm run -s oncehook --' : 'npx oncehook';
}

/** How the user starts the development database; `options` as they are typed after it. */
export function startCommand(options: readonly string[] = [], command: string = invocation()): string {
  const clone = command.startsWith('npm run ');
  const start = clone ? 'npm start' : `${command} dev`;
  if (options.length === 0) return start;
  return `${start}${clone ? ' --' : ''} ${options.join(' ')}`;
}

/** A text in which `oncehook <verb>` is a command, with the command as the user has to type it. */
export function withInvocation(text: string, command: string = invocation()): string {
  return text
    .replace(/(?<![\w./-]|npx )oncehook dev\b/g, startCommand([], command))
    .replace(/(?<![\w./-]|npx )oncehook (?=(?:generate|migrate|secrets|send|status)\b)/g, `${command} `);
}
