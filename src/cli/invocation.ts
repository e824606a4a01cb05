/** How the user runs Oncehook, for hints that can be pasted. */
export function invocation(from: { url: string } = import.meta): string {
  // From a clone the sources run as they are; the package holds what was compiled from them.
  return from.url.endsWith('.ts') ? 'npm run -s oncehook --' : 'npx oncehook';
}

/** A text in which `oncehook <verb>` is a command, with the command as the user has to type it. */
export function withInvocation(text: string, command: string = invocation()): string {
  return text.replace(
    /(?<![\w./-])oncehook (?=(?:dev|generate|migrate|secrets|send|status)\b)/g,
    `${command} `,
  );
}
