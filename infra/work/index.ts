/** What runs inside Pulumi's provider process: see ../dynamic.ts. */
export { loginWork } from './login.ts';
export { schemaWork } from './schema.ts';
