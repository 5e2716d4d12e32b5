// A file of an earlier program that the configuration names: its numbers are in charts, whenever it is chosen and
// whatever else cannot be read.
import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { makeEarlierFile } from '../../support/history-database.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

async function startWith(t: Test, metrics: object): Promise<TestHost> {
  const config = { dumb: { metrics: { history_enabled: false, ...metrics } } };
  const app = await startHost({ plugins: ['metrics-history'], config });
  t.teardown(() => app.stop());
  return app;
}

/** Changes the section in the configuration file of a running host. */
const change = (app: TestHost, metrics: object) =>
  changeMainFile(app.configDir, ({ dumb, ...config }) => ({
    ...config,
    dumb: { ...dumb, metrics: { ...(dumb.metrics as object), ...metrics } },
  }));

async function statsOf(app: TestHost): Promise<object | null> {
  const { status, body } = await app.get('/metrics/history_series?since=0');
  return status === 200 ? body.stats : null;
}

/** Resolves when charts have the numbers of the file. */
const charted = (app: TestHost) => until(() => statsOf(app), { what: 'the numbers in charts' });

/** The path of a file of an earlier program in a directory of its own. */
function plant(t: Test): string {
  const directory = path.join(testDir(t), 'earlier');
  mkdirSync(directory, { mode: 0o700 });
  const file = path.join(directory, 'metrics.sqlite');
  makeEarlierFile(file);
  return file;
}

t.test('one that is chosen while the host runs', async t => {
  const file = plant(t);
  const app = await startWith(t, {});
  t.equal(await statsOf(app), null);
  await change(app, { storage: { sqlite_path: file } });
  t.match(await charted(app), { cpu: { min: 0, max: 99 } });
});

t.test('one beside a directory of lines that cannot be opened', async t => {
  const file = plant(t);
  const app = await startWith(t, { history_dir: file, storage: { sqlite_path: file } });
  t.match(await charted(app), { cpu: { min: 0, max: 99 } });
  const told = (await ownLog(app)).filter(line => line.includes(' - ERROR - '));
  t.match(told, [/what an earlier program kept in \S+metrics\.sqlite cannot be read/]);
});

t.test('a directory of lines that the system refuses is told to who asks for an import', async t => {
  // Nobody can open a name that is too long, not even root.
  const directory = path.join(testDir(t), 'x'.repeat(300));
  const app = await startWith(t, { history_dir: directory, storage: { sqlite_path: plant(t) } });
  const { status, body } = await app.post('/metrics/history/migrate');
  t.equal(status, 503);
  t.match(body.detail, /x{300} cannot be read: name too long; mend that, or correct dumb\.metrics\.history_dir$/);
});

t.test('one that could not be read at the start', async t => {
  const file = plant(t);
  // A directory to which others may write is not trusted.
  chmodSync(path.dirname(file), 0o777);
  const app = await startWith(t, { storage: { sqlite_path: file } });
  const isTold = async () => (await ownLog(app)).some(line => line.includes('what an earlier program kept in'));
  await until(isTold, { what: 'an error' });
  chmodSync(path.dirname(file), 0o700);
  // Has what is too old removed, as happens every few minutes.
  await change(app, { history_retention_days: 6 });
  t.match(await charted(app), { cpu: { min: 0, max: 99 } });
});
