// A service whose databases and log lie on a mount that never answers delays nobody else.
import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { freshHealth, isRoot } from '../../support/database-health.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);

t.test('a mount that does not answer', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const dir = testDir(t, { near: {} });
  const dead = path.join(dir, 'dead');
  await mkdir(dead);
  // Whoever looks at it, of whatever user, waits for a server that never answers.
  const options = 'fd=5,rootmode=40000,user_id=0,group_id=0,allow_other';
  const holder = execFile('bash', [
    '-c',
    `exec 5<>/dev/fuse; mount -i -t fuse.test -o ${options} dead '${dead}' && exec sleep 1000`,
  ]);
  await until(async () => (await readFile('/proc/self/mountinfo', 'utf8')).includes(dead));
  const block = (name: string, place: string) => ({
    enabled: true,
    process_name: name,
    config_dir: place,
    log_file: path.join(place, 'radarr.txt'),
    command: ['true'],
  });
  const app = await startHost({
    plugins: ['database-health', 'services', 'config'],
    config: {
      radarr: { instances: { Default: block('Films', dead), Near: block('Near', path.join(dir, 'near')) } },
      dumb: {
        metrics: {
          database_health: {
            enabled: true,
            services: { 'radarr:Default': { enabled: true, mode: 'enhanced' }, 'radarr:Near': true },
          },
        },
      },
    },
  });
  t.teardown(async () => {
    await app.stop();
    holder.kill('SIGKILL');
    await run('umount', ['--lazy', dead]);
  });
  const hanging = app.get('/metrics/database-health');
  const near = await until(async () => {
    const { services } = (await app.get('/metrics')).body.database_health;
    const found = services.find(({ process_name: name }: { process_name: string }) => name === 'Near');
    return found.pressure !== 'collecting' && services;
  });
  t.match(near, [
    { process_name: 'Films', pressure: 'collecting' },
    { process_name: 'Near', pressure: 'unavailable' },
  ]);
  t.equal((await hanging).status, 200);
  const films = await freshHealth(app);
  t.match(films, { pressure: 'unavailable', log_source: { available: false, error: /(did|does) not answer/ } });
  t.match(films.databases, [
    { role: 'main', path: path.join(dead, 'radarr.db'), exists: null, error: /(did|does) not answer/ },
    { role: 'logs', exists: null },
  ]);
});
