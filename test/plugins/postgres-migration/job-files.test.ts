// The order of the files of jobs: the one that was changed last is the latest, whatever the clock says.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { type JobRecord, newRecord } from '../../../plugins/postgres-migration/job.ts';
import { JobFiles } from '../../../plugins/postgres-migration/job-files.ts';
import { Places } from '../../../plugins/postgres-migration/places.ts';
import { testDir } from '../../support/directory.ts';

const IDENTITY = {
  process_name: 'Sonarr',
  service_key: 'sonarr',
  instance_name: 'Default',
  mode: 'rehearsal' as const,
  include_logs: false,
  preflight: {},
  binding: {},
  was_running: true,
};
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
