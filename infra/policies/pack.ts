import { type Policies, PolicyPack } from '@pulumi/policy';
import { type Policy, policies } from './policies.ts';

/** A rule in the form that Pulumi's engine asks: of each resource, or of the whole stack at the end. */
function enforced(policy: Policy): Policies[number] {
  const { id, title, level } = policy;
  const head = { name: id, description: title, enforcementLevel: level };
  if (policy.scope === 'resource') {
    return {
      ...head,
      validateResource({ type, props }, report) {
        if (!policy.appliesTo.includes(type)) return;
        const wrong = policy.check(props, type);
        if (wrong !== undefined) report(wrong);
      },
    };
  }
  return {
    ...head,
    validateStack({ resources }, report) {
      const stack = resources.map(({ type, props }) => ({ type, props }));
      for (const { type, props, urn } of resources) {
        const wrong = policy.appliesTo.includes(type) ? policy.check(props, stack, type) : undefined;
        if (wrong !== undefined) report(wrong, urn);
      }
    },
  };
}

// Starts to serve.
new PolicyPack('oncehook', { policies: policies.map(enforced) });
