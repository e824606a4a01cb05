import * as aws from '@pulumi/aws';
import type * as pulumi from '@pulumi/pulumi';
import type { AwsSettings } from './settings.ts';

/** Where and for whom the parts of one server are made. */
export interface Place {
  /** The component's name; a child is named `${name}-<role>`. */
  name: string;
  parent: pulumi.Resource;
  settings: AwsSettings;
  accountId: pulumi.Output<string>;
  region: pulumi.Output<string>;
  /** `aws`, `aws-cn`, `aws-us-gov`: the second word of every ARN. */
  partition: pulumi.Output<string>;
  tags: Record<string, string>;
}

/** Asks AWS where we are; the parent's provider answers. */
export function findPlace(name: string, parent: pulumi.Resource, settings: AwsSettings): Place {
  return {
    name,
    parent,
    settings,
    accountId: aws.getCallerIdentityOutput({}, { parent }).accountId,
    region: aws.getRegionOutput({}, { parent }).region,
    partition: aws.getPartitionOutput({}, { parent }).partition,
    tags: { Name: name, ManagedBy: 'oncehook', ...settings.tags },
  };
}
