// An error of a statement tells which line of the plugin made the call.
import t from 'tap';
import { NOTES, startDatabaseApp } from '../../support/database-plugin.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

t.test('the stack of a refused call names those who await it', async t => {
  const { open } = await startDatabaseApp(t, testDir(t));
  const db = open();
  const add = () => db.call('add', { text: 'a' });
  async function caller() {
    await db.call('add', { text: 'a' });
  }
  async function throughFunction() {
    await add();
  }
  async function withOthers() {
    await Promise.all([db.call('count', undefined), db.call('add', { text: 'a' })]);
  }
  async function reader() {
    for await (const _text of db.rows('count' as never, undefined as never));
  }
  async function late() {
    await db.call('block', 200, { timeoutMs: 1 });
  }
  await caller();
  for (const call of [caller, throughFunction, withOthers, reader, late]) {
    const error = await call().then(
      () => undefined,
      (error: Error) => error,
    );
    t.match(error?.stack, new RegExp(`at async ${call.name} .*sqlite-callers`), call.name);
  }
});

t.test('the stack of a refused call that nobody awaits names where it began', async t => {
  const { open } = await startDatabaseApp(t, testDir(t));
  const db = open();
  await db.call('add', { text: 'a' });
  function forgetful() {
    return db.call('add', { text: 'a' });
  }
  const { stack = '' } = await new Promise<Error>(resolve => void forgetful().catch(resolve));
  t.match(stack, /^Error: UNIQUE .*\n +at .*\n +at forgetful .*sqlite-callers/s);
});

t.test('the log tells file and line of the call', async t => {
  const index = `export default { name: 'keeper', host: '^1', setup (host) {
    const db = host.database('notes', { statements: 'notes' })
    host.tap('host.ready', async () => {
      await db.call('add', { text: 'a' })
      await db.call('add', { text: 'a' })
    })
  } }`;
  const configDir = testDir(t, { plugins: { keeper: { 'index.js': index, 'notes.js': NOTES } } });
  const app = await startHost({ configDir, config: {}, plugins: ['keeper'] });
  t.teardown(() => app.stop());
  await until(async () => /UNIQUE/.test(await ownLog(app)));
  t.match(await ownLog(app), /keeper: tap failed \(index\.js:5\): tap on host\.ready: UNIQUE constraint failed/);
});
