// R18: another process locks a database for a while: calls are refused with what to do, then go on, and nothing is
// lost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { startDatabaseApp } from '../support/database-plugin.ts';
import { testDir } from '../support/directory.ts';
import { until } from '../support/until.ts';

const locker = fileURLToPath(new URL('../support/sqlite-lock.cjs', import.meta.url));

t.test('a database that is locked by another process', async t => {
  const { open, file } = await startDatabaseApp(t, testDir(t));
  const db = open({ busyTimeoutMs: 100 });
  const answered: string[] = [];
  const refused: unknown[] = [];
  const add = (text: string) =>
    db.call('add', { text }).then(
      () => answered.push(text),
      (error: unknown) => refused.push(error),
    );
  await add('before');

  const other = spawn(process.execPath, [locker, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => other.kill('SIGKILL'));
  await once(other.stdout, 'data');
  await Promise.all(['one', 'two', 'three'].map(add));
  t.equal(refused.length, 3);
  for (const error of refused) {
    t.match(error, { status: 503, code: 'database.busy', message: /locked by another process.*try again/ });
  }
  t.equal(await db.call('count', undefined), 1, 'readers go on');

  other.stdin.end();
  await once(other, 'exit');
  await until(async () => {
    await add('after');
    return answered.includes('after');
  });
  const texts: string[] = [];
  for await (const text of db.rows('texts', { from: 0 })) texts.push(text);
  t.same(texts, answered, 'what was answered is there, and nothing else');
});

t.test('a database that is locked before it is opened', async t => {
  const { open, file } = await startDatabaseApp(t, testDir(t));
  const first = open();
  await first.call('add', { text: 'a' });
  await first.close();
  const other = spawn(process.execPath, [locker, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => other.kill('SIGKILL'));
  await once(other.stdout, 'data');
  const db = open({ file: `${file}`, busyTimeoutMs: 100 });
  const added = () => db.call('add', { text: 'b' });
  await t.rejects(added(), { status: 503, code: 'database.busy', message: /locked/ });
  other.stdin.end();
  await once(other, 'exit');
  t.equal(await added(), 1);
  t.equal(await db.call('count', undefined), 2);
});
