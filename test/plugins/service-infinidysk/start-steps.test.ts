// The two programs of InfiniDysk, when its installation has no start script: they start and end together.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { lives, notedPid, start, status, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-infinidysk', 'service-arr', 'integrations', 'setup', 'services'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

t.test('a migration first, both stopped by one signal, and one that fails ends both', { skip }, async t => {
  const dir = testDir(t, {
    'package.json': '{}',
    frontend: {
      'dist-node': {
        'server.js': "require('fs').writeFileSync('../front', String(process.pid)); setInterval(() => {}, 1e6)",
      },
    },
    app: {},
  });
  for (const place of ['.', 'frontend', 'app']) await chmod(path.join(dir, place), 0o777);
  const program = path.join(dir, 'app/NzbWebDAV');
  await writeFile(
    program,
    `#!/bin/sh\necho "$1" >> ${dir}/runs\n[ "$1" = --db-migration ] && { test ! -e ${dir}/broken; exit; }\necho $$ > ${dir}/back\nexec sleep 600\n`,
  );
  await chmod(program, 0o755);
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-infinidysk'],
    config: {
      infinidysk: {
        process_name: 'Disk',
        config_dir: dir,
        log_file: path.join(dir, 'own.log'),
        backend_port: await freePort(),
        frontend_port: await freePort(),
        webdav_password: 'p',
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Disk');
  t.equal(answer.status, 200, answer.text);
  const [front, back] = [await notedPid(path.join(dir, 'front')), await notedPid(path.join(dir, 'back'))];
  t.equal(await readFile(path.join(dir, 'runs'), 'utf8'), '--db-migration\n\n', 'the migration comes first');
  t.equal((await stop(app, 'Disk')).status, 200);
  t.notOk(lives(front) || lives(back), 'both have ended');

  for (const [name, code] of [
    ['front', 1],
    ['back', 137],
  ] as const) {
    await Promise.all(['front', 'back', 'runs'].map(file => rm(path.join(dir, file))));
    t.equal((await start(app, 'Disk')).status, 200);
    const pids = { front: await notedPid(path.join(dir, 'front')), back: await notedPid(path.join(dir, 'back')) };
    process.kill(pids[name], 'SIGKILL');
    await until(async () => (await status(app, 'Disk')).status === 'stopped', {
      what: `the end of both after ${name}`,
    });
    t.notOk(lives(pids.front) || lives(pids.back), `both have ended after ${name}`);
    t.match(await status(app, 'Disk'), { restart: { exit_code: code } }, 'that is a failure of the service');
  }

  await writeFile(path.join(dir, 'broken'), '');
  await start(app, 'Disk');
  await until(async () => (await status(app, 'Disk')).status === 'stopped', { what: 'the end of both' });
  t.equal(await readFile(path.join(dir, 'runs'), 'utf8'), '--db-migration\n\n--db-migration\n');

  await mkdir(path.join(dir, 'gone'));
  await app.post('/config', { process_name: 'Disk', updates: { config_dir: path.join(dir, 'gone') } });
  t.match((await start(app, 'Disk')).body, { detail: /Disk cannot start: .*is not installed/ });
});

const cannotTell = skip || !existsSync(path.join(pluginsDir, 'versions'));

t.test('a release that knows no server does not start with one', { skip: cannotTell }, async t => {
  const dir = testDir(t, { 'version.txt': 'v1.1.9-0123abcd\n' });
  await chmod(dir, 0o777);
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'versions', 'service-infinidysk'],
    config: {
      infinidysk: {
        process_name: 'Disk',
        command: ['sleep', '600'],
        config_dir: dir,
        log_file: path.join(dir, 'own.log'),
        backend_port: await freePort(),
        frontend_port: await freePort(),
        webdav_password: 'p',
        postgres_enabled: true,
      },
    },
  });
  t.teardown(() => app.stop());
  const refused = await start(app, 'Disk');
  t.equal(refused.status, 400, 'its data would be in SQLite, where nobody looks for them');
  t.match(refused.body.detail, /1\.1\.9-0123abcd does not know postgres_enabled; install 1\.2\.0 or later/);
  for (const version of ['v1.2.0-0123abcd', 'v1.10.0', 'main-0123abcd']) {
    await writeFile(path.join(dir, 'version.txt'), `${version}\n`);
    t.equal((await start(app, 'Disk')).status, 200, version);
    t.equal((await stop(app, 'Disk')).status, 200);
  }
  await writeFile(path.join(dir, 'version.txt'), 'v1.1.9-0123abcd\n');
  await app.post('/config', { process_name: 'Disk', updates: { postgres_enabled: false } });
  t.equal((await start(app, 'Disk')).status, 200);
});
