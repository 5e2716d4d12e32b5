// The plugin is loaded anew while a migration is under way: the service runs on SQLite in the end, and the record of the
// job stays as the new instance has ended it.
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { pluginsDir } from '../../support/host.ts';
import { begin, ended, makeStack, NAME, running, startStack } from '../../support/postgres-migration.ts';
import { until } from '../../support/until.ts';

t.test('a migration under way is taken back when its plugin is loaded anew', async t => {
  const stack = await makeStack(t, { habit: 'holds Series' });
  // In a folder of its own, so that no other host loads the plugin anew.
  const own = path.join(path.dirname(stack.configDir), 'plugins', 'postgres-migration');
  await mkdir(own, { recursive: true });
  const [file, shipped] = [path.join(own, 'index.js'), path.join(pluginsDir, 'postgres-migration', 'index.ts')];
  await writeFile(file, `export { default } from ${JSON.stringify(pathToFileURL(shipped))};\n`);
  const app = await startStack(t, stack);
  const before = await stack.data();
  const id = await begin(app, 'cutover');
  const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'COPY "Series" %'`;
  await until(async () => (await stack.query(waits)).length > 0, { what: 'the import', timeoutMs: 240_000 });
  const now = new Date();
  await utimes(file, now, now);
  const job = await until(async () => (await ended(app, id)).finished_at !== undefined && ended(app, id), {
    what: 'the end of the migration',
  });
  t.match(job, { status: 'failed_rolled_back', error: { code: 'migration.interrupted' } });
  await running(app, [NAME]);
  t.same(await stack.data(), before);
  await app.stop();
  const record = path.join(stack.configDir, 'arr-postgres-migration', 'jobs', `${id}.json`);
  t.match(JSON.parse(await readFile(record, 'utf8')).job, { status: 'failed_rolled_back' });
});
