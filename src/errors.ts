/** One thing that the user can mend: where it stands, what was expected, what to do. */
export interface Issue {
  /** What is wrong, in one sentence, without a secret's value. */
  message: string;
  /** The file, as the user named it. */
  file?: string;
  /** 1-based. */
  line?: number;
  /** 1-based. */
  column?: number;
  /** The path inside the file, e.g. `sources.stripe.lease`. */
  path?: string;
  /** What would have been right, e.g. `a duration such as 15m`. */
  expected?: string;
  /** What to do now. */
  remedy?: string;
}

/** Something that the user can mend. Carries every issue that was found, not the first alone. */
export class UserError extends Error {
  readonly issues: readonly [Issue, ...Issue[]];
  override readonly name: string = 'UserError';

  constructor(first: Issue | string, ...rest: Issue[]) {
    const head = typeof first === 'string' ? { message: first } : first;
    super([head, ...rest].map(formatIssue).join('\n'));
    this.issues = [head, ...rest];
  }
}

/** Something that only a change of Oncehook can mend: a state that should be impossible. */
export class Bug extends Error {
  override readonly name: string = 'Bug';
}

/**
 * One issue as text: `file:line:column: path: message`, then the expectation and the remedy on lines of
 * their own.
 */
export function formatIssue(issue: Issue): string {
  const place = [issue.file, issue.line, issue.column].filter((part) => part !== undefined).join(':');
  const head = [place, issue.path, issue.message].filter((part) => part).join(': ');
  const tail = [
    issue.expected ? `  expected: ${issue.expected}` : undefined,
    issue.remedy ? `  remedy: ${issue.remedy}` : undefined,
  ].filter((part) => part !== undefined);
  return [head, ...tail].join('\n');
}
