// A better-sqlite3 that would end the host is refused before it is used.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { compiledFile, look } from '../../../core/kit/sqlite-library.ts';
import { testDir } from '../../support/directory.ts';

t.test('a library compiled with headers that end the host is refused with a remedy', async t => {
  const file = path.join(testDir(t, {}), 'better_sqlite3.node');
  const around = Buffer.alloc(3_000, 0x7f);
  await writeFile(file, Buffer.concat([around, Buffer.from('_ZN4node28RemoveEnvironmentCleanupHookEPN2v8'), around]));
  await t.rejects(look(file), { code: 'database.unusable', message: /npm rebuild better-sqlite3 .*Node 22/ });
});

t.test('any other library is used, and a missing file is left to the loader', async t => {
  const file = path.join(testDir(t, {}), 'better_sqlite3.node');
  await t.resolves(look(file));
  await writeFile(file, '_ZN4node25AddEnvironmentCleanupHookEPN2v8');
  await t.resolves(look(file));
});

t.test('an error says what to install when the package is missing', async t => {
  t.throws(() => compiledFile('file:///nowhere/core/kit/sqlite-library.js'), {
    code: 'database.unusable',
    message: /^SQLite cannot be used, because better-sqlite3 is missing; run `npm install --omit=dev` where /,
    cause: undefined,
  });
});
