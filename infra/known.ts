import * as pulumi from '@pulumi/pulumi';

/** What every output has beside its public face, and what `pulumi.Output`'s types leave out. */
interface Inner<T> {
  isKnown: Promise<boolean>;
  promise(): Promise<T>;
}

/**
 * The plain value of an input, once it is there: in an update that may wait for a server to be made. Undefined in a
 * preview that cannot know it. Secrets come out in clear: never log what this returns.
 */
export async function known<T>(input: pulumi.Input<T>): Promise<T | undefined> {
  const inner = pulumi.output(input) as unknown as Inner<T>;
  return (await inner.isKnown) ? inner.promise() : undefined;
}
