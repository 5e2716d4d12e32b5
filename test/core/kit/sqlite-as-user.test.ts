// Work on databases of services in a child process.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import t from 'tap';
import { testDir } from '../../support/directory.ts';

const run = promisify(execFile);

t.test('a library that would end the child process is refused with a remedy', async t => {
  const file = path.join(testDir(t, {}), 'app.db');
  new Database(file).exec('CREATE TABLE notes (text TEXT)').close();
  const kit = JSON.stringify(import.meta.resolve('../../../core/kit/sqlite-as-user.ts'));
  const change = `db => db.prepare("INSERT INTO notes VALUES ('x')").run()`;
  const work = { file, user: null, input: null, limitMs: 20_000, change };
  // In a process of its own, because each process examines the library once.
  const script = `
    import { syncBuiltinESMExports } from 'node:module'
    await import(${JSON.stringify(import.meta.resolve('../../runner/typescript.mjs'))})
    const files = process.getBuiltinModule('node:fs/promises')
    const { readFile } = files
    files.readFile = (name, ...rest) => String(name).endsWith('better_sqlite3.node')
      ? Promise.resolve(Buffer.from('RemoveEnvironmentCleanupHook')) : readFile(name, ...rest)
    syncBuiltinESMExports()
    const { changeDatabaseAs } = await import(${kit})
    await changeDatabaseAs(${JSON.stringify(work)}).then(() => console.log('done'), error => console.log(error.message))`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
  t.match(stdout, `${file} cannot be changed: SQLite cannot be used, because better-sqlite3 was compiled`);
  t.match(stdout, 'npm rebuild better-sqlite3');
  const db = new Database(file);
  t.teardown(() => db.close());
  t.equal(db.prepare('SELECT count(*) FROM notes').pluck().get(), 0);
});
