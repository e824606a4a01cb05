import { advisory, atLeast, demand, isText, isTrue, list, mandatory, objects } from './checks.ts';
import type { Policy, Props } from './rule.ts';
import { types } from './types.ts';

const servers = [types.instance, types.cluster];
const ours = (value: unknown) => isText(value) && !value.includes('alias/aws/');

/** The password of the admin is RDS's business alone. */
const managed = (props: Props) =>
  props['manageMasterUserPassword'] === true &&
  ['password', 'passwordWo', 'masterPassword', 'masterPasswordWo'].every((name) => props[name] === undefined);

/** Whether a statement of a policy is for anybody at all. */
function forEverybody(statement: Props): boolean {
  const { Effect: effect, Principal: principal, Condition: condition } = statement;
  if (effect !== 'Allow' || condition !== undefined) return false;
  const aws = typeof principal === 'object' && principal !== null ? (principal as Props)['AWS'] : principal;
  return aws === '*' || list(aws).includes('*');
}

function statementsOf(policy: unknown): Props[] {
  const read: unknown = typeof policy === 'string' ? JSON.parse(policy) : policy;
  const statement = (read as Props | undefined)?.['Statement'];
  return objects(Array.isArray(statement) ? statement : [statement]);
}

/** Rules about the admin's secret, keys and logs. */
export const secretPolicies: readonly Policy[] = [
  {
    ...mandatory('CKV_AWS_149', 'Secrets are encrypted with a key of ours', [types.secret, ...servers]),
    scope: 'resource',
    check: (props, type) =>
      ours(type === types.secret ? props['kmsKeyId'] : props['masterUserSecretKmsKeyId'])
        ? undefined
        : "The secret's key is AWS's own.",
  },
  {
    ...mandatory('CKV2_AWS_57', 'Secrets are changed regularly', [types.secret, ...servers]),
    scope: 'stack',
    check(props, stack, type) {
      if (type !== types.secret) return managed(props) ? undefined : 'RDS does not manage its password.';
      const rotated = stack.some(
        (each) => each.type === types.rotation && each.props['secretId'] === props['id'],
      );
      return rotated ? undefined : 'Nothing rotates it.';
    },
  },
  demand(
    mandatory('CKV_AWS_7', 'The key is changed every year', [types.key]),
    'enableKeyRotation',
    (value, props) =>
      isTrue(value) || !['SYMMETRIC_DEFAULT', undefined].includes(props['customerMasterKeySpec'] as string),
  ),
  demand(
    mandatory('CKV_AWS_33', 'Nobody at all may use the key', [types.key]),
    'policy',
    (value) => !statementsOf(value).some(forEverybody),
  ),
  {
    ...mandatory('CKV2_AWS_64', 'The key has a policy of its own', [types.key]),
    scope: 'stack',
    check: (props, stack) =>
      isText(props['policy']) ||
      stack.some((each) => each.type === types.keyPolicy && each.props['keyId'] === props['id'])
        ? undefined
        : 'It has none.',
  },
  demand(
    mandatory('CKV_AWS_66', 'Logs are kept for a time', [types.logGroup]),
    'retentionInDays',
    atLeast(1),
  ),
  demand(mandatory('CKV_AWS_158', 'Logs are encrypted', [types.logGroup]), 'kmsKeyId', isText),
  demand(
    advisory('CKV_AWS_338', 'Logs are kept for a year', [types.logGroup]),
    'retentionInDays',
    (value) => value === 0 || atLeast(365)(value),
  ),
];
