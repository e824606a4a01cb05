import type { SourceRules } from '../../providers/rules.ts';
import type { Provider } from '../../providers/schema.ts';

/** What the workflow of a source is made of: the part of a resolved source that the generator looks at. */
export interface WorkflowSource {
  project: string;
  /** Never changes; begins every key. */
  id: string;
  name: string;
  /** Below `/webhook/`. */
  path: string;
  /** The recipe of the key. */
  key: string;
  ack: 'after-claim' | 'after-success';
  leaseSeconds: number;
  /** Who may send; null means anybody. */
  addresses: string[] | null;
  /** What the provider insists on, by outcome. */
  answers: Record<string, { status?: number; content_type?: string }>;
  /** Whether nodes of the user answer the sender's questions. */
  decide: boolean;
  /** The name of n8n's credential. */
  credential: string;
  /** What few senders need: they decide which kind of workflow it is. */
  rules: SourceRules | null;
  /** The source's own values for {setting.name}. */
  settings: Readonly<Record<string, string>>;
  providerFile: Pick<
    Provider,
    'name' | 'docs' | 'notes' | 'retry' | 'fetch' | 'handshakes' | 'questions' | 'content_type'
  >;
}
