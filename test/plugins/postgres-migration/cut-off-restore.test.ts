// A cutover whose service does not stay up on PostgreSQL, and whose host ends while it brings the service back: the next
// host goes on with that, even though the service was started on PostgreSQL before.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import {
  ended,
  get,
  type KillPoint,
  killed,
  type MigrationHost,
  post,
  rollback,
  settled,
  stackHosts,
} from '../../support/migration-host.ts';
import { type Body, makeStack, NAME, PREFIX, request, type Stack } from '../../support/postgres-migration.ts';
import { until } from '../../support/until.ts';

/** Resolves when a change of the service's variables is saved, which the end of a migration may hold up. */
const set = (host: MigrationHost, env: Record<string, string>) =>
  until(
    async () =>
      (await post(host, '/config', { process_name: NAME, updates: { env }, persist: true })).detail === undefined,
    { what: 'the variables to be saved' },
  );
const databases = async (stack: Stack): Promise<string[]> =>
  (await stack.query("SELECT datname FROM pg_database WHERE datname ~ '^(stage|prev|sonarr)' ORDER BY 1")).map(
    ({ datname }) => datname,
  );

async function jobOnDisk({ configDir }: Stack, jobId: string): Promise<Body> {
  const file = path.join(configDir, 'arr-postgres-migration', 'jobs', `${jobId}.json`);
  return JSON.parse(await readFile(file, 'utf8'));
}

t.test('the next host goes on with a restore that the end of the host has cut off', async t => {
  const stack = await makeStack(t);
  const open = await stackHosts(stack);
  const first = await open();
  await settled(first);
  const before = await stack.data();
  await stack.query('CREATE DATABASE "sonarr-main"');
  await stack.query('CREATE TABLE "Series" AS SELECT 1 AS "Id"', 'sonarr-main');
  await post(first, `${PREFIX}/start`, request('cutover'));
  const { job: moved } = await ended(first);
  t.equal(moved.status, 'completed', JSON.stringify(moved.error));
  t.equal((await post(first, `${PREFIX}/rollback`, rollback(moved))).status, 'rolled_back');
  await set(first, { SERVARR_HABIT: 'ends on PostgreSQL' });
  const kept = await databases(stack);
  t.same(kept, [moved.result.preserved_databases[0], 'sonarr-log', 'sonarr-main'], 'one of an earlier move is kept');
  first.child.kill('SIGKILL');
  await first.exited;

  const points: readonly (KillPoint & { readonly what: string })[] = [
    { what: 'before anything is put back', when: 'after', holds: '"isUndoDue":true' },
    { what: 'once everything is put back', when: 'before', holds: '"status":"failed_rolled_back"' },
  ];
  for (const { what, ...point } of points) {
    const doomed = await open(point);
    await settled(doomed);
    const { job_id: jobId, detail } = await post(doomed, `${PREFIX}/start`, request('cutover'));
    if (jobId === undefined) throw new Error(detail);
    await killed(doomed);
    t.equal(doomed.child.signalCode, 'SIGKILL', `${what}: killed`);
    t.match((await jobOnDisk(stack, jobId)).job, { status: 'running', rollback_checkpoint: 'service_started' }, what);
    await isBack(t, { stack, open, what, jobId, before, kept });
  }

  const hold = path.join(stack.home, 'hold');
  const stopped = await open();
  await settled(stopped);
  await writeFile(hold, '');
  const { job_id: jobId } = await post(stopped, `${PREFIX}/start`, request('cutover'));
  const isRestored = async () =>
    (await get(stopped, `/process?process_name=${NAME}`)).config.postgres_enabled === false &&
    (await jobOnDisk(stack, jobId)).job.rollback_checkpoint === 'service_started' &&
    (await get(stopped, `/process/service-status?process_name=${NAME}`)).status === 'starting';
  await until(isRestored, { what: 'the start on SQLite', timeoutMs: 120_000, intervalMs: 20 });
  stopped.child.kill('SIGTERM');
  await stopped.exited;
  t.match((await jobOnDisk(stack, jobId)).job, { status: 'running' }, 'stopped: the job is left to the next host');
  await rm(hold);
  await isBack(t, { stack, open, what: 'stopped', jobId, before, kept });
});

interface Expected {
  readonly stack: Stack;
  readonly open: () => Promise<MigrationHost>;
  readonly what: string;
  readonly jobId: string;
  readonly before: Body;
  readonly kept: readonly string[];
}

/** Checks that the next host ends the job, with the service on SQLite and the databases of before. */
async function isBack(t: Test, { stack, open, what, jobId, before, kept }: Expected): Promise<void> {
  const next = await open();
  const { job } = await ended(next);
  t.match(job, { job_id: jobId, status: 'failed_rolled_back', rollback_available: false }, what);
  await settled(next);
  t.same(await stack.data(), before, `${what}: the service is on SQLite`);
  t.match((await get(next, `/process?process_name=${NAME}`)).config, { postgres_enabled: false }, what);
  await until(async () => (await databases(stack)).join() === kept.join()).catch(async () =>
    t.same(await databases(stack), kept, `${what}: the databases of before`),
  );
  t.same(await readdir(path.join(stack.configDir, 'arr-postgres-migration', 'work')), [], what);
  next.child.kill('SIGTERM');
  await next.exited;
}
