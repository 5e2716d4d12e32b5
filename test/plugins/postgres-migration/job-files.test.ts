// The files of jobs: the one that was changed last is the latest, whatever the clock says, and an end that could not be
// written is written before a later job.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { type JobRecord, newRecord } from '../../../plugins/postgres-migration/job.ts';
import { JobFiles } from '../../../plugins/postgres-migration/job-files.ts';
import { LiveJob } from '../../../plugins/postgres-migration/live-job.ts';
import { Places } from '../../../plugins/postgres-migration/places.ts';
import { testDir } from '../../support/directory.ts';
import { identityOf } from '../../support/postgres-migration.ts';

const IDENTITY = identityOf('rehearsal');
const log = { warn() {} } as never;
const at = ({ job, work }: JobRecord, seconds: number): JobRecord => ({ job: { ...job, updated_at: seconds }, work });

t.test('after the clock was set back the job that was changed last is the latest', async t => {
  const configDir = testDir(t);
  const places = new Places(configDir, () => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }) as never);
  const open = async () => {
    const files = new JobFiles(places, log);
    await files.load();
    return files;
  };
  const order = (files: JobFiles) => files.list('Sonarr').map(({ job }) => job.job_id);
  const [old, ahead, back] = [900, 1_000, 5].map(seconds => at(newRecord(IDENTITY, []), seconds));
  if (old === undefined || ahead === undefined || back === undefined) throw new Error('three records');
  const [oldId, aheadId, backId] = [old, ahead, back].map(({ job }) => job.job_id);

  const files = await open();
  await files.save(ahead);
  await files.save(back);
  t.same(order(files), [backId, aheadId]);
  await files.save({ ...ahead, work: { ...ahead.work, isUndoDue: true } });
  t.same(order(files), [backId, aheadId], 'what clients do not see changes no order');

  const directory = path.join(configDir, 'arr-postgres-migration', 'jobs');
  await mkdir(directory, { recursive: true });
  await writeFile(path.join(directory, `${oldId}.json`), JSON.stringify(old), { mode: 0o600 });
  t.equal((await readdir(directory)).length, 3);
  const next = await open();
  t.same(order(next), [backId, aheadId, oldId], 'one of an earlier version comes after those with a place');
  await next.save(at(ahead, 3));
  t.same(order(await open()), [aheadId, backId, oldId], 'also for the next host');
  t.notMatch(JSON.parse(await readFile(path.join(directory, `${aheadId}.json`), 'utf8')).job, { sequence: Number });
});

t.test('the end of a job that could not be written is written before a later job', async t => {
  const places = new Places(testDir(t), () => null);
  const disk = { isFull: false };
  const filling = {
    root: places.root,
    jobs: async (options: { readonly create: boolean }) => {
      if (disk.isFull) throw new Error('no space left on device');
      return places.jobs(options);
    },
  };
  const told: string[] = [];
  const host = { emit: (type: string) => told.push(type), log: { warn() {}, error() {} } } as never;
  const files = new JobFiles(filling as never, log);
  const live = () => new LiveJob(newRecord(IDENTITY, []), files, host);
  const statuses = async () => {
    const next = new JobFiles(places, log);
    await next.load();
    return next.list('Sonarr').map(({ job }) => job.status);
  };

  const first = live();
  await first.change({ status: 'running' });
  disk.isFull = true;
  await first.end('failed_rolled_back');
  t.same([first.job.status, told, await statuses()], ['failed_rolled_back', ['migration.failed'], ['running']]);
  const second = live();
  await t.rejects(second.change({}), /no space left on device/, 'no job is begun meanwhile');
  files.forget({ job: second.job, work: second.work });
  t.same(await statuses(), ['running']);

  disk.isFull = false;
  await live().change({});
  t.same(await statuses(), ['queued', 'failed_rolled_back']);

  disk.isFull = true;
  await first.end('interrupted');
  disk.isFull = false;
  await files.close();
  t.same((await statuses()).sort(), ['interrupted', 'queued'], 'at the end of the host at the latest');
  await t.rejects(first.change({}), /the plugin has ended/);
});
