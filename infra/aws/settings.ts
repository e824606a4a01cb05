import * as pulumi from '@pulumi/pulumi';
import { z } from 'zod';
import { ipv6Prefix, parseBlock } from './cidr.ts';
import { sizes } from './sizes.ts';
import { longestVpcPrefix } from './subnets.ts';

/** An id that AWS gave out: a text in stack configuration, or an output of the same program. */
function awsId(prefix: string) {
  const expected = `an id such as ${prefix}-0123456789abcdef0`;
  const form = new RegExp(`^${prefix}-[0-9a-f]{8,17}$`);
  return z.custom<pulumi.Input<string>>(
    (value) => pulumi.Output.isInstance(value) || (typeof value === 'string' && form.test(value)),
    expected,
  );
}

const label = z.string().regex(/^[a-z][a-z0-9-]{0,29}$/, 'a name of a-z, 0-9 and the dash, such as n8n');

const openTo = (text: string) => {
  const prefix = parseBlock(text)?.prefix ?? ipv6Prefix(text);
  return prefix !== undefined && prefix >= (text.includes(':') ? 32 : 8);
};

const admitted = z
  .string()
  .refine(
    openTo,
    'a network such as 10.0.0.0/16 or 203.0.113.7/32, no wider than /8 (IPv6: /32): never the whole internet',
  );

// `pulumi config set --path` stores 17 as a number.
const major = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.enum(['16', '17', '18']),
);

const existingNetwork = z.strictObject({
  kind: z.literal('existing'),
  vpcId: awsId('vpc').describe('The VPC.'),
  subnetIds: z
    .array(awsId('subnet'))
    .min(2)
    .max(6)
    .describe('Private subnets of it, in two or more availability zones.'),
});

const ownNetwork = z.strictObject({
  kind: z.literal('own'),
  cidr: z
    .string()
    .refine((text) => {
      const prefix = parseBlock(text)?.prefix;
      return prefix !== undefined && prefix >= 16 && prefix <= longestVpcPrefix;
    }, `an IPv4 network of /16 to /${longestVpcPrefix} such as 10.83.0.0/24`)
    .default('10.83.0.0/24')
    .describe(
      'The addresses of the new VPC; they must not meet those of a network that it will be joined to.',
    ),
  zones: z.int().min(2).max(4).default(2).describe('How many availability zones its subnets cover.'),
});

const allow = z
  .strictObject({
    securityGroups: z
      .record(label, awsId('sg'))
      .default({})
      .describe("Who may reach the database, by name: the security group of n8n's machine."),
    cidrs: z.record(label, admitted).default({}).describe('Networks that may reach it, by name.'),
  })
  .default({ securityGroups: {}, cidrs: {} })
  .superRefine((given, context) => {
    for (const name of Object.keys(given.cidrs).filter((key) => key in given.securityGroups)) {
      const message = 'a name that no entry of securityGroups has';
      context.addIssue({ code: 'custom', path: ['cidrs', name], message });
    }
  });

const protection = z
  .strictObject({
    deletion: z.boolean().default(true).describe('Refuse to delete the server.'),
    finalSnapshot: z
      .boolean()
      .default(true)
      .describe('Keep a last snapshot, its key and the backups when the server is deleted.'),
    multiAz: z.boolean().default(true).describe('A second copy in another availability zone.'),
    backupDays: z.int().min(7).max(35).default(7).describe('How far back a point in time can be restored.'),
    backupPlan: z.boolean().default(true).describe('Weekly backups by AWS Backup, kept for 35 days.'),
  })
  .prefault({});

/**
 * What the server on AWS shall be: the object `aws` of the stack configuration, and the arguments of AwsPostgres.
 * Holds no secret. docs/provisioning-aws.md has the same as a table, with what each setting costs.
 */
export const awsSettings = z
  .strictObject({
    version: major.describe("Postgres's major version; minor ones come by themselves."),
    server: z
      .enum(['instance', 'aurora'])
      .default('instance')
      .describe('RDS for PostgreSQL, or Aurora Serverless v2.'),
    size: z.enum(Object.keys(sizes) as [keyof typeof sizes]).default('small'),
    storage: z
      .strictObject({
        gib: z.int().min(20).max(65_536).default(20).describe('gp3 storage to begin with (instance only).'),
        maxGib: z
          .int()
          .min(22)
          .max(65_536)
          .default(100)
          .describe('How far it may grow; Aurora has no limit of its own and alarms here.'),
      })
      .prefault({})
      .refine(({ gib, maxGib }) => maxGib >= gib * 1.1, {
        path: ['maxGib'],
        error: 'at least a tenth above storage.gib',
      }),
    network: z.discriminatedUnion('kind', [existingNetwork, ownNetwork]),
    reach: z
      .enum(['second-stack', 'direct'])
      .default('second-stack')
      .describe('Whether this machine can reach the database, or a second stack inside the VPC goes on.'),
    allow,
    port: z
      .int()
      .min(1150)
      .max(65_535)
      .default(15_432)
      .describe('The port; 5432 is what scanners try first.'),
    caFile: z
      .string()
      .min(1)
      .default('rds-ca.pem')
      .describe("The file with RDS's certificate authorities, from the project's folder."),
    alarms: z
      .strictObject({
        email: z.email('an e-mail address').describe('Gets alarms and events by mail.').exactOptional(),
        topicArn: z
          .string()
          .regex(/^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+$/, "an SNS topic's ARN")
          .describe('A topic of yours that gets them instead.')
          .exactOptional(),
      })
      .refine((given) => (given.email === undefined) !== (given.topicArn === undefined), {
        error: 'either email or topicArn',
      }),
    protection,
    majorUpgrade: z
      .boolean()
      .default(false)
      .describe('Let a change of version upgrade the server; false again afterwards.'),
    logDays: z
      .union(
        [30, 90, 180, 365, 400, 731].map((days) => z.literal(days)),
        'one of 30, 90, 180, 365, 400, 731',
      )
      .default(365)
      .describe("How long the server's log is kept."),
    slowQueryMs: z
      .int()
      .min(-1)
      .default(-1)
      .describe(
        "Log statements that take longer, with their text, which can hold a webhook's body; -1: none.",
      ),
    tags: z.record(z.string().min(1).max(128), z.string().max(256)).default({}),
  })
  .superRefine(({ network, allow, reach }, context) => {
    const admits = Object.keys(allow.securityGroups).length + Object.keys(allow.cidrs).length > 0;
    if (network.kind === 'existing' && !admits) {
      const message = 'at least one security group or network: otherwise nobody can reach the database';
      context.addIssue({ code: 'custom', path: ['allow'], message });
    }
    if (network.kind === 'own' && reach === 'direct') {
      const message = 'second-stack: this machine is not inside a VPC that is yet to be made';
      context.addIssue({ code: 'custom', path: ['reach'], message });
    }
  });

/** The settings as they are written: what has a default may be left out. */
export type AwsSettingsInput = z.input<typeof awsSettings>;
/** The settings with every default filled in. */
export type AwsSettings = z.output<typeof awsSettings>;
