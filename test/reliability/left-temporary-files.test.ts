// Temporary files that a killed host has left beside its own files. They may hold secrets, so the next start or the next
// write removes them, and nothing else.
import { readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { Logins } from '../../core/cli/logins.ts';
import type { Host } from '../../core/contract/host.ts';
import { KEYS_FILE, KnownKeys } from '../../plugins/install-apt/known-keys.ts';
import { JobFiles } from '../../plugins/postgres-migration/job-files.ts';
import { Places } from '../../plugins/postgres-migration/places.ts';
import { ServedTimes } from '../../plugins/schedules/served-times.ts';
import { HandedOver } from '../../plugins/service-arr/handed-over.ts';
import { placesOf } from '../../plugins/symlinks/places/path-rules.ts';
import { type ScheduleRecord, ScheduleState } from '../../plugins/symlinks/schedule/schedule-state.ts';
import { UpdateRecords } from '../../plugins/updates/update-records.ts';
import type { UpdateResult } from '../../plugins/updates/update-result.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { until } from '../support/until.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const LEFT = '.123-0123abcd.tmp';

t.test('the file of users, from the start', async t => {
  const configDir = testDir(t, {
    [`users.json${LEFT}`]: '',
    [`users.json.bak${LEFT}`]: '',
    [`mine.json${LEFT}`]: '',
  });
  const app = await startHost({ configDir, plugins: ['auth'], config: {} });
  t.teardown(() => app.stop());
  await untilOnlyMine(configDir);
});

t.test('the records of updates and of scheduled backups, from their next write', async t => {
  const configDir = testDir(t, {
    [`update_notices.json${LEFT}`]: '',
    [`mine.json${LEFT}`]: '',
    'symlink-repair': { [`schedule.json${LEFT}`]: '', [`mine.json${LEFT}`]: '' },
  });
  const host = {
    paths: { configDir },
    log,
    use: () => ({ root: () => ({ puid: process.getuid?.(), pgid: process.getgid?.() }) }),
  } as unknown as Host;
  const updates = await UpdateRecords.open(host);
  await updates.setResult('Service', { status: 'no_update', message: '' } as UpdateResult);
  await updates.close();
  await untilOnlyMine(configDir);
  const backups = await ScheduleState.open(host, placesOf(configDir, []));
  await backups.set('Service', {} as ScheduleRecord);
  await backups.close();
  await untilOnlyMine(path.join(configDir, 'symlink-repair'));
});

t.test('jobs of migrations, and the served times of schedules', async t => {
  const left = 'one.json.0123456789ab.tmp';
  const configDir = testDir(t, {
    'arr-postgres-migration': { jobs: { [left]: '', 'mine.tmp': '' } },
    schedules: { [left]: '', 'mine.tmp': '' },
  });
  const jobs = new JobFiles(new Places(configDir, () => null as never), log);
  await jobs.load();
  t.same(await readdir(path.join(configDir, 'arr-postgres-migration', 'jobs')), ['mine.tmp']);
  const times = new ServedTimes(configDir, log);
  await times.load();
  times.set('Service', 1);
  await times.saved();
  t.same((await readdir(path.join(configDir, 'schedules'))).sort(), ['mine.tmp', 'served.json']);
});

t.test('versions of the file of a service', async t => {
  const time = '2025-01-31T04-00-00-000Z-';
  const others = [`${time}other.json${LEFT}`, `${time}service.json`];
  const configDir = testDir(t, {
    own: { 'service.json': '{"count": 0}' },
    backups: {
      'service-config': {
        service: Object.fromEntries([...others, `${time}service.json${LEFT}`].map(name => [name, ''])),
      },
    },
  });
  const own = path.join(configDir, 'own');
  const app = await startHost({
    configDir,
    plugins: ['config', 'process', 'config-files', 'format-json'],
    config: {
      service: {
        process_name: 'Service',
        command: ['sleep', '1'],
        config_dir: own,
        config_file: path.join(own, 'service.json'),
      },
    },
  });
  t.teardown(() => app.stop());
  const save = { service_name: 'Service', updates: { count: 1 } };
  t.equal((await app.post('/config/service-config', save)).status, 200);
  const versions = await readdir(path.join(configDir, 'backups', 'service-config', 'service'));
  t.equal(versions.length, others.length + 1);
  t.ok(others.every(name => versions.includes(name)));
});

t.test('what was handed over, and the known keys of repositories, from their next write', async t => {
  const configDir = testDir(t, {
    [`handed-over.json${LEFT}`]: '',
    [`${KEYS_FILE}${LEFT}`]: '',
    [`mine.json${LEFT}`]: '',
  });
  await new HandedOver(path.join(configDir, 'handed-over.json'), log).note(['Service'], 'secret');
  await new KnownKeys(configDir).check('https://packages.example', ['0123'], undefined);
  await untilOnlyMine(configDir);
});

t.test('logins of the command line, unless another command may still write them', async t => {
  const [left, fresh] = ['logins.json.0123456789ab.tmp', 'logins.json.ba9876543210.tmp'];
  const parent = testDir(t, { stackwarden: { [left]: '', [fresh]: '', 'mine.tmp': '' } });
  const directory = path.join(parent, 'stackwarden');
  await utimes(path.join(directory, left), 0, 0);
  const tokens = { access_token: 'a', refresh_token: 'b' };
  await new Logins({ XDG_CONFIG_HOME: parent }).keep('http://127.0.0.1:1', tokens);
  t.same((await readdir(directory)).sort(), ['logins.json', fresh, 'mine.tmp']);
});

async function untilOnlyMine(directory: string): Promise<void> {
  const left = async () => (await readdir(directory)).filter(name => name.endsWith('.tmp'));
  await until(async () => (await left()).join() === `mine.json${LEFT}`, { what: 'the temporary files to be removed' });
}
