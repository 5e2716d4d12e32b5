// A migration whose disk is full once the service is stopped: its own files are removed, and the service runs on
// SQLite.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import {
  begin,
  ended,
  makeStack,
  NAME,
  PREFIX,
  running,
  startStack,
  toldOf,
} from '../../support/postgres-migration.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { until } from '../../support/until.ts';

t.test('a full disk at the backup is freed again', ROOT_ONLY, async t => {
  const stack = await makeStack(t);
  const { configDir } = stack;
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=755,size=4g,nr_inodes=600', 'tmpfs', configDir]);
  t.teardown(() => execFileSync('umount', ['-l', configDir]));
  const fill = path.join(configDir, 'fill');
  await mkdir(fill);
  await chmod(fill, 0o777);
  const app = await startStack(t, stack);
  const set = (env: Record<string, string>) =>
    until(
      async () =>
        (await app.post('/config', { process_name: NAME, updates: { env }, persist: true })).status === 200 &&
        (await app.post('/process/restart-service', { process_name: NAME })).status === 200,
      { what: 'the habit of the service' },
    );
  await set({ SERVARR_HABIT: `fills ${fill}` });
  await running(app);
  const before = await stack.data();
  const source = stack.source();

  const id = await begin(app, 'cutover');
  const job = await ended(app, id);
  t.match(job, { status: 'failed_rolled_back', rollback_available: false, was_running: true });
  t.match(job.error.message, /no space left on device, or no inode; see to (?:its|the) disk$/);
  t.equal(job.error.stage === 'backup' || job.error.stage === 'stopping', true, job.error.stage);
  t.match(await toldOf(app, id), [{ type: 'migration.failed', status: 'failed_rolled_back' }]);
  await running(app, [NAME]);
  t.same(await stack.data(), before);
  t.equal(stack.source(), source);
  const root = path.join(configDir, 'arr-postgres-migration');
  t.same(await readdir(path.join(root, 'backups', 'sonarr')).catch(() => []), [], 'no part of a backup is left');
  t.same(await readdir(path.join(root, 'work')), []);
  const kept = JSON.parse(await readFile(path.join(root, 'jobs', `${id}.json`), 'utf8'));
  t.equal(kept.job.status, 'failed_rolled_back', 'also for the next host');

  const makeRoom = async () => {
    for (const name of await readdir(fill)) await rm(path.join(fill, name));
  };
  await makeRoom();
  await set({});
  await makeRoom();
  await running(app);
  const next = await ended(app, await begin(app, 'cutover'));
  t.equal(next.status, 'completed', JSON.stringify(next.error));
  t.match((await app.get(`${PREFIX}/latest?process_name=${NAME}`)).body.job, { job_id: next.job_id });
});
