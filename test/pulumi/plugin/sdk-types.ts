import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type ts from 'typescript';

/** A property as the SDK declares it: `string`, `number[]`, …; a structure by the name of its interface. */
export interface SdkProperty {
  type: string;
  optional: boolean;
}

/** The SDK's interfaces of arguments by name: `RoleArgs` → `login` → `{ type: 'boolean', optional: true }`. */
export type SdkTypes = Record<string, Record<string, SdkProperty>>;

/** Reads them from the declarations of the installed `@pulumi/postgresql`. */
export function readSdkTypes(): SdkTypes {
  const require = createRequire(import.meta.url);
  // Asked for here, because parsing takes longer than everything else that the plugin does at its start.
  const compiler = require('typescript') as typeof ts;
  const folder = dirname(require.resolve('@pulumi/postgresql/package.json'));
  const types: SdkTypes = {};
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.d.ts'))) {
    const source = compiler.createSourceFile(
      name,
      readFileSync(join(folder, name), 'utf8'),
      compiler.ScriptTarget.Latest,
    );
    for (const statement of source.statements) {
      if (!compiler.isInterfaceDeclaration(statement) || !statement.name.text.endsWith('Args')) continue;
      types[statement.name.text] = readInterface(compiler, source, statement);
    }
  }
  return types;
}

/** The version of the installed SDK, which the plugin takes for its own. */
export function sdkVersion(): string {
  const { version } = createRequire(import.meta.url)('@pulumi/postgresql/package.json') as {
    version: string;
  };
  return version;
}

function readInterface(
  compiler: typeof ts,
  source: ts.SourceFile,
  declared: ts.InterfaceDeclaration,
): Record<string, SdkProperty> {
  const properties: Record<string, SdkProperty> = {};
  for (const member of declared.members) {
    if (!compiler.isPropertySignature(member) || !member.type) continue;
    properties[member.name.getText(source)] = {
      type: plainType(compiler, source, member.type),
      optional: member.questionToken !== undefined,
    };
  }
  return properties;
}

/** `pulumi.Input<pulumi.Input<string>[] | undefined>` → `string[]`. */
function plainType(compiler: typeof ts, source: ts.SourceFile, node: ts.TypeNode): string {
  if (compiler.isTypeReferenceNode(node)) {
    const [inner] = node.typeArguments ?? [];
    if (inner && node.typeName.getText(source) === 'pulumi.Input') return plainType(compiler, source, inner);
  }
  if (compiler.isArrayTypeNode(node)) return `${plainType(compiler, source, node.elementType)}[]`;
  if (compiler.isUnionTypeNode(node)) {
    const parts = node.types.filter((part) => part.kind !== compiler.SyntaxKind.UndefinedKeyword);
    return parts.map((part) => plainType(compiler, source, part)).join(' | ');
  }
  return node.getText(source);
}
