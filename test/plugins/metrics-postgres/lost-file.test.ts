// Samples that the own file has lost come back from PostgreSQL; thinned out and removed ones do not.
import { copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { changeMainFile } from '../../support/host-config.ts';
import { activated, agree, line, storage, timesIn, writeLines, YESTERDAY } from '../../support/metrics-postgres.ts';
import { ownLogText } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

t.test('a lost file, or an older copy, is filled from PostgreSQL', async t => {
  const { app, block } = await activated(t, {});
  const directory = path.join(app.configDir, 'metrics');
  const use = async (name: string) => {
    const place = path.join(directory, name);
    await changeMainFile(app.configDir, ({ dumb, ...config }) => {
      const metrics = dumb.metrics as { storage: object };
      const storage = { ...metrics.storage, sqlite_path: place };
      return { ...config, dumb: { ...dumb, metrics: { ...metrics, storage } } };
    });
    const what = `${name} to be in use beside PostgreSQL`;
    await until(
      async () => {
        const { sqlite, active_provider: provider } = await storage(app);
        return sqlite.path === place && provider === 'postgresql';
      },
      { what },
    );
  };
  const holds = (samples: number) =>
    until(async () => (await storage(app)).sqlite.samples === samples, { what: `${samples} samples in the own file` });

  await use('new.sqlite');
  await holds(200);
  await agree(t, app, block);

  for (const end of ['', '-wal', '-shm']) await rm(path.join(directory, `new.sqlite${end}`));
  const isTold = async () => (await ownLogText(path.join(app.configDir, 'log'))).includes('new.sqlite was removed');
  await until(async () => (await storage(app)) && isTold(), { what: 'the removal to be noticed' });
  await holds(200);
  const { active_provider: provider, last_error: fault } = await storage(app);
  t.same([provider, fault], ['postgresql', null], 'the server is not at fault');
  await agree(t, app, block);

  await copyFile(path.join(directory, 'new.sqlite'), path.join(directory, 'backup.sqlite'));
  await writeLines(app.configDir, 'metrics-20260102-1.jsonl', [line(YESTERDAY - 30), line(YESTERDAY + 30)]);
  t.match((await app.post('/metrics/history/migrate?force=true')).body, { samples: 202 });
  await agree(t, app, block);
  const file = new Database(path.join(directory, 'metrics.sqlite'));
  file.exec(`DELETE FROM metrics_snapshots WHERE timestamp < ${YESTERDAY + 600}`);
  file.close();
  await use('backup.sqlite');
  await holds(202);
  await agree(t, app, block);

  await use('metrics.sqlite');
  await until(async () => (await timesIn(app, block)).own.length === 190 + 2, { what: 'what was never there' });
  await until(async () => (await storage(app)).active_provider === 'postgresql');
  const { own, there } = await timesIn(app, block);
  t.equal(own.length, 190 + 2, 'samples whose numbers are still there were thinned out');
  t.equal(there.length, 202);
});
