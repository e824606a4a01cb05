import * as aws from '@pulumi/aws';
import * as pulumi from '@pulumi/pulumi';

/**
 * The admin's password as it is at this run, a secret. RDS changes it every week, so it is read anew each time
 * and never kept in the configuration.
 *
 * @param secretArn the secret of Secrets Manager that RDS made
 */
export function readAdminPassword(
  secretArn: pulumi.Output<string>,
  parent: pulumi.Resource,
): pulumi.Output<string> {
  const version = aws.secretsmanager.getSecretVersionOutput({ secretId: secretArn }, { parent });
  return pulumi.secret(version.secretString).apply(passwordIn);
}

/** The password in a secret of RDS. Throws pulumi.RunError, which holds nothing of the secret. */
export function passwordIn(secretString: string): string {
  try {
    const { password } = JSON.parse(secretString) as { password?: unknown };
    if (typeof password === 'string' && password !== '') return password;
  } catch {
    // A parser's message quotes what it read.
  }
  throw new pulumi.RunError(
    "The admin's secret in Secrets Manager holds no password.\n" +
      '  expected: what RDS keeps there: {"username":…,"password":…}\n' +
      '  remedy: See in the console whether somebody changed it, and let RDS rotate it.',
  );
}
