// Messages about a database that cannot be used, by the error of SQLite or of loading it.
import t from 'tap';
import { faultOf } from '../../../core/kit/sqlite-fault.ts';

t.test('a library that is not built gives one sentence with what to do', async t => {
  const missing = new Error('Could not locate the bindings file. Tried:\n → /opt/a.node\n → /opt/b.node');
  const other = Object.assign(
    new Error("The module 'a.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 115."),
    { code: 'ERR_DLOPEN_FAILED' },
  );
  for (const error of [missing, other]) {
    const fault = faultOf(error, 'notes.sqlite');
    t.equal(fault?.code, 'database.unusable');
    t.match(
      fault?.message,
      /^The database notes\.sqlite cannot be opened: [^\n]* run `npm rebuild better-sqlite3`[^\n]*$/,
    );
  }
});

t.test('an error of a statement is no fault of the database', async t => {
  t.equal(faultOf(Object.assign(new Error('UNIQUE'), { code: 'SQLITE_CONSTRAINT_UNIQUE' }), 'a'), undefined);
  t.equal(faultOf(new Error('no such table'), 'a'), undefined);
  t.match(faultOf(Object.assign(new Error('x'), { code: 'SQLITE_FULL' }), 'a'), { code: 'database.full' });
});
