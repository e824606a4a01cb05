import type { Config, Inspected, SourceConfig } from '../config/load.ts';
import { Bug, type Issue, UserError } from '../errors.ts';
import { byPlace, oneOf, showPath } from '../input/schema-issues.ts';
import { maxIssues } from '../input/yaml.ts';
import { compileSignature } from '../providers/compile.ts';
import { type CompiledAnswer, compileAnswers } from '../providers/compile-exchange.ts';
import type { CompiledSignature } from '../providers/compiled.ts';
import type { Catalogue } from '../providers/load.ts';
import { catalogueOf } from '../providers/own.ts';
import { compileRules, type SourceRules } from '../providers/rules.ts';
import type { Provider } from '../providers/schema.ts';
import {
  checkExchange,
  checkRecipes,
  checkRetention,
  checkTolerance,
  type Report,
  volatilePaths,
} from './resolve-checks.ts';
import { checkSettings } from './resolve-settings.ts';
import { checkPublicUrl, checkSecrets, resolveAddresses, resolveSignature } from './resolve-signature.ts';

/** A row of `webhook_sources`: everything the gate has to know of a source. */
export interface SourceRow {
  /** Never changes. */
  id: string;
  /** May change; people read it. */
  name: string;
  /** The provider's slug. */
  provider: string;
  signature: CompiledSignature;
  /** A recipe's text. */
  key: string;
  keyFormat: 'plain' | 'sha256';
  /** A recipe's text. */
  type: string | null;
  /** A recipe's text. */
  object: string | null;
  /** Paths into the body, without the leading `body`. */
  volatile: string[][];
  /** Null where the signature has no timestamp. */
  toleranceSeconds: number | null;
  leaseSeconds: number;
  maxAttempts: number;
  retentionDays: number;
  ack: 'after-claim' | 'after-success';
  /** By outcome; what is left out keeps its default. */
  answers: Record<string, CompiledAnswer>;
  /** What few senders need: handshakes, questions, a guard, batches, fetched objects. */
  rules: SourceRules | null;
}

/** A source with everything that the generator and the CLI need of it. */
export interface ResolvedSource extends SourceRow {
  project: string;
  /** The name of n8n's Postgres credential. */
  credential: string;
  /** The webhook's path in n8n. */
  path: string;
  /** For the Webhook node's list; null lets every address in. */
  addresses: string[] | null;
  /** Names of environment variables. */
  secrets: string[];
  /** The source's own values for {setting.name}. */
  settings: Record<string, string>;
  /** Whether nodes of the user's answer questions. */
  decide: boolean;
  providerFile: Provider;
}

/**
 * Joins the configuration with the provider files: those that ship, and the user's own beside the configuration.
 * @throws UserError with every issue of all sources at once, each at its line in the configuration.
 */
export function resolveSources(
  config: Config,
  providers: Catalogue = catalogueOf(config.file),
): ResolvedSource[] {
  return resolveInspected({ config, issues: [], doubtful: new Map() }, providers);
}

/**
 * `resolveSources` for a configuration that may have issues of its own: they are told together with those that only
 * the provider files show.
 * @throws UserError with all of them, in the order of the file.
 */
export function resolveInspected(
  { config, issues: known, doubtful }: Inspected,
  providers: Catalogue = catalogueOf(config.file),
): ResolvedSource[] {
  const issues: Issue[] = [...known];
  const resolved = config.sources.map((source) => {
    // Nobody reads more, and each of them costs a search in the file.
    if (issues.length >= maxIssues) return undefined;
    const report = reporter(config, source.name, issues, doubtful.get(source.name));
    const provider = findProvider(source.provider, providers, report, issues);
    return provider && resolveSource(config, source, provider, report);
  });
  const [first, ...rest] = byPlace(issues);
  if (first) throw new UserError(first, ...rest);
  return resolved.map((source) => {
    if (!source) throw new Bug('A source was not resolved, and no issue says why.');
    return source;
  });
}

function reporter(
  config: Config,
  name: string,
  issues: Issue[],
  doubtful: ReadonlySet<string> = new Set(),
): Report {
  const issue = (path: readonly PropertyKey[], found: Issue): void => {
    if (doubtful.has(String(path[0]))) return;
    const whole = ['sources', name, ...path];
    issues.push({ ...config.locate(whole), path: showPath(whole), ...found });
  };
  return {
    issue,
    at: config,
    prefix: ['sources', name],
    add: (found) => issues.push(...found),
  };
}

/** A provider file with an error of its own is reported with the others, under its own name. */
function findProvider(
  slug: string,
  providers: Catalogue,
  report: Report,
  issues: Issue[],
): Provider | undefined {
  const known = providers.list();
  if (!known.includes(slug)) {
    const { expected, remedy = '' } = oneOf(slug, known);
    const open = openProviders(providers, known).map((name) => `\`${name}\``);
    report.issue(['provider'], {
      message: 'This provider is not known.',
      ...(expected === undefined ? {} : { expected }),
      remedy: open.length > 0 ? `${remedy} For any other sender: ${open.join(' or ')}.` : remedy,
    });
    return undefined;
  }
  try {
    return providers.load(slug);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

/** The generic providers that leave the signature to the source, and so stand for a sender without a file. */
function openProviders(providers: Catalogue, slugs: readonly string[]): string[] {
  return slugs.filter((slug) => {
    try {
      const { category, configurable } = providers.load(slug);
      return category === 'generic' && configurable.includes('signature');
    } catch (error) {
      // A broken provider file is no suggestion; the source that uses it reports it.
      if (error instanceof UserError) return false;
      throw error;
    }
  });
}

function resolveSource(
  config: Config,
  source: SourceConfig,
  provider: Provider,
  report: Report,
): ResolvedSource | undefined {
  const signature = resolveSignature(source, provider, report);
  checkRecipes(source, report);
  checkRetention(source, provider, report);
  checkExchange(source, provider, report);
  if (!signature) return undefined;
  checkSecrets(source, signature, report);
  checkTolerance(source, signature, report);
  checkPublicUrl(source, signature, report);
  checkSettings(source, provider, signature, report);
  const compiled = compileSignature(signature, source);
  const tolerance = 'timestamp' in compiled ? compiled.timestamp?.tolerance : undefined;
  return {
    id: source.id,
    name: source.name,
    provider: provider.slug,
    signature: compiled,
    key: source.key ?? provider.key,
    keyFormat: source.keyFormat,
    type: source.type ?? provider.type ?? null,
    object: source.object ?? provider.object ?? null,
    volatile: volatilePaths(provider.volatile),
    toleranceSeconds: typeof tolerance === 'number' ? tolerance : null,
    leaseSeconds: source.leaseSeconds,
    maxAttempts: source.maxAttempts,
    retentionDays: source.retentionDays,
    ack: source.ack,
    answers: compileAnswers(provider.answers),
    rules: compileRules(provider, source),
    decide: source.decide,
    project: config.project,
    credential: config.credential,
    path: source.path,
    addresses: resolveAddresses(source, provider, signature, report),
    secrets: source.secrets,
    settings: source.settings,
    providerFile: provider,
  };
}
