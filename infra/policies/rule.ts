/** A resource as its provider gets it: property names as in the SDK. */
export type Props = Record<string, unknown>;

/** One resource of a stack. */
export interface StackResource {
  /** Pulumi's token, e.g. `aws:rds/instance:Instance`. */
  type: string;
  props: Props;
}

interface Rule {
  /** The public id of the rule that this one mirrors: of Checkov (`CKV…`) or AWS Security Hub (`RDS.…`). */
  id: string;
  /** What is demanded, in the words of a person. */
  title: string;
  /** The types of the resources that it looks at. */
  appliesTo: readonly string[];
  /**
   * Whether a violation stops an update. The others tell of a choice that costs money or comfort, and which the
   * settings leave to the user.
   */
  level: 'mandatory' | 'advisory';
}

/** A rule about one resource, known before it is made. */
export interface ResourceRule extends Rule {
  scope: 'resource';
  /** What is wrong with it; undefined where nothing is. */
  check(props: Props, type: string): string | undefined;
}

/** A rule about a resource and those around it. */
export interface StackRule extends Rule {
  scope: 'stack';
  check(props: Props, stack: readonly StackResource[], type: string): string | undefined;
}

export type Policy = ResourceRule | StackRule;

/** Everything in a stack that breaks a rule: one text for each resource. */
export function violations(policy: Policy, stack: readonly StackResource[]): string[] {
  return stack
    .filter(({ type }) => policy.appliesTo.includes(type))
    .map(({ type, props }) =>
      policy.scope === 'stack' ? policy.check(props, stack, type) : policy.check(props, type),
    )
    .filter((text) => text !== undefined);
}
