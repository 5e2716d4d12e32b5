// A service whose databases and log lie on a dead mount delays no other service.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { freshHealth, give, isRoot, makeDatabase, startHealth } from '../../support/database-health.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const linkMount = fileURLToPath(new URL('../../support/link-mount.cjs', import.meta.url));

t.test('a dead mount delays only its own service', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const dir = testDir(t, { near: {} });
  const dead = path.join(dir, 'dead');
  await mkdir(dead);
  // Any process that examines this mount waits for a server that never answers.
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

t.test('what is mounted in its place is examined', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const place = path.join(testDir(t), 'place');
  await mkdir(place);
  // Any process that looks into it hangs, even after a kill, until this server ends.
  const server = spawn(process.execPath, [linkMount, place, '0', '0', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
  const own = path.join(place, 'hang');
  const log = path.join(own, 'radarr.txt');
  const block = { enabled: true, process_name: 'Films', config_dir: own, log_file: log, command: ['true'] };
  const app = await startHealth(t, block);
  t.teardown(async () => {
    server.kill('SIGKILL');
    // Two file systems are mounted here, and a late look may still be inside the upper one.
    await run('umount', ['--lazy', place]);
    await run('umount', ['--lazy', place]).catch(() => undefined);
  });
  t.match(await freshHealth(app), { databases: [{ exists: null, error: /did not answer/ }] });
  await run('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=755', 'tmpfs', place]);
  await mkdir(own);
  makeDatabase(path.join(own, 'radarr.db'), 'delete').close();
  await appendFile(log, 'database is locked\n');
  await give(own, path.join(own, 'radarr.db'), log);
  const films = await freshHealth(app);
  t.match(films, { databases: [{ role: 'main', exists: true, journal_mode: 'delete' }], log_signals: { locked: 1 } });
});
