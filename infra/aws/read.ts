import * as pulumi from '@pulumi/pulumi';
import { formatIssue } from '../../src/errors.ts';
import { check } from '../../src/input/schema-issues.ts';
import { type AwsSettings, type AwsSettingsInput, awsSettings } from './settings.ts';

const nowhere = { file: '', locate: () => ({}), locateKey: () => ({}) };

/**
 * Settings with their defaults, and the component's name checked: AWS makes identifiers of it.
 *
 * Throws pulumi.RunError with every issue at once; its paths begin with `aws`, as in the stack configuration.
 */
export function readSettings(name: string, given: AwsSettingsInput): AwsSettings {
  if (!/^[a-z]([a-z0-9]|-(?=[a-z0-9])){0,39}$/.test(name)) {
    const issue = {
      message: `"${name}" cannot begin the names of a server on AWS.`,
      expected: '1 to 40 of a-z, 0-9 and single dashes, a letter first and no dash last',
      remedy: 'Rename the component.',
    };
    throw new pulumi.RunError(formatIssue(issue));
  }
  const result = check(awsSettings, given, nowhere, ['aws']);
  if ('value' in result) return result.value;
  throw new pulumi.RunError(result.issues.map(formatIssue).join('\n'));
}
