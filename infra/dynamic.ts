import type { dynamic } from '@pulumi/pulumi';
import type { LoginInputs, LoginOutputs } from './work/login.ts';
import type { SchemaInputs, SchemaOutputs } from './work/schema.ts';

/**
 * Pulumi stores the text of these two classes with each resource and runs it in a process of its own, in the
 * program's folder. So they hold nothing: each method finds the code anew, by a name that any machine knows. In this
 * repository that is an import of its own, in the package an export.
 */
const work = import.meta.url.endsWith('.ts') ? '#pulumi-work' : 'oncehook/pulumi/work';

export class LoginProvider implements dynamic.ResourceProvider<LoginInputs, LoginOutputs> {
  async diff(_id: string, olds: LoginOutputs, news: LoginInputs): Promise<dynamic.DiffResult> {
    return (await import(work)).loginWork.diff(olds, news);
  }
  async create(inputs: LoginInputs): Promise<dynamic.CreateResult<LoginOutputs>> {
    return (await import(work)).loginWork.create(inputs);
  }
  async update(
    _id: string,
    olds: LoginOutputs,
    news: LoginInputs,
  ): Promise<dynamic.UpdateResult<LoginOutputs>> {
    return (await import(work)).loginWork.update(olds, news);
  }
}

export class SchemaProvider implements dynamic.ResourceProvider<SchemaInputs, SchemaOutputs> {
  async diff(_id: string, olds: SchemaOutputs, news: SchemaInputs): Promise<dynamic.DiffResult> {
    return (await import(work)).schemaWork.diff(olds, news);
  }
  async create(inputs: SchemaInputs): Promise<dynamic.CreateResult<SchemaOutputs>> {
    return (await import(work)).schemaWork.create(inputs);
  }
  async update(
    _id: string,
    olds: SchemaOutputs,
    news: SchemaInputs,
  ): Promise<dynamic.UpdateResult<SchemaOutputs>> {
    return (await import(work)).schemaWork.update(olds, news);
  }
  async delete(_id: string, olds: SchemaOutputs): Promise<void> {
    await (await import(work)).schemaWork.delete(olds);
  }
}
