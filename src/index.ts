export { type Config, loadConfig, type SourceConfig } from './config/load.ts';
export { configJsonSchema } from './config/schema.ts';
export { Bug, type Issue, UserError } from './errors.ts';
export { type Generated, type GeneratedFile, type GenerateOptions, generate } from './generate/generate.ts';
export { type ResolvedSource, resolveSources, type SourceRow } from './generate/resolve.ts';
export type { WorkflowSource } from './generate/source/types.ts';
export { sourceWorkflow } from './generate/source/workflow.ts';
export { serialise } from './workflow/serialise.ts';
export type { Workflow, WorkflowNode } from './workflow/types.ts';
