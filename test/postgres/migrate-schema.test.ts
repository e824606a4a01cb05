import { expect, test } from 'vitest';
import { dumpSchema } from '../../src/ledger/schema-dump.ts';
import { cluster, createDatabase } from './harness/database.ts';

// `npx vitest run test/postgres/migrate-schema.test.ts -u` writes the file anew.
test.runIf(cluster().version === 18)(
  'docs/schema.sql shows the schema that the migrations make',
  async () => {
    const database = await createDatabase();
    try {
      await expect(await dumpSchema(await database.owner())).toMatchFileSnapshot('../../docs/schema.sql');
    } finally {
      await database.drop();
    }
  },
);
