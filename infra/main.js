// Where Pulumi starts the program: JavaScript, so that a Node.js that cannot read the rest says so.
import * as pulumi from '@pulumi/pulumi';

if (!process.features.typescript) {
  throw new pulumi.RunError(
    `The Node.js on PATH, ${process.version}, does not run TypeScript.\n` +
      '  expected: Node.js 22.18 or newer\n' +
      '  remedy: After npm ci the right one is among the packages: type npm run -s pulumi -- in the place of pulumi.',
  );
}
const { default: program } = await import('./index.ts');
export default program;
