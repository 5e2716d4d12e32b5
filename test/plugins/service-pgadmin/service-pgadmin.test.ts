// pgAgent runs beside pgAdmin: it starts and ends with it, and gets the password only in a variable. pgAdmin gets the
// directory of the programs that save and restore databases.
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { lives, start, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { freePort, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-pgadmin', 'service-postgres', 'setup', 'services', 'format-python'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

const plugins = [
  'config',
  'process',
  'services',
  'setup',
  'service-pgadmin',
  'service-postgres',
  'config-files',
  'format-python',
];

/** A directory with a helper that notes how it was started, and prints. */
async function withHelper(t: Test): Promise<{ dir: string; note: string }> {
  const dir = testDir(t, { host: {} });
  await chmod(dir, 0o777);
  const agent = path.join(dir, 'pgagent');
  const note = path.join(dir, 'note');
  await writeFile(
    agent,
    `#!/bin/sh\necho a job failed >&2\necho "$$ $(id -u) $PGPASSWORD $*" > ${note}\nexec sleep 600\n`,
  );
  await chmod(agent, 0o755);
  return { dir, note };
}

const configOf = async (dir: string) => ({
  postgres: { port: 5_998, user: 'keeper', password: 'the-password' },
  pgadmin: {
    process_name: 'Admin',
    port: await freePort(),
    config_dir: dir,
    config_file: path.join(dir, 'config_local.py'),
    log_file: path.join(dir, 'own.log'),
    command: ['sleep', '600'],
  },
});

t.test('the helper comes and goes with its service', { skip }, async t => {
  const { dir, note } = await withHelper(t);
  const before = process.env.PATH;
  process.env.PATH = `${dir}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const app = await startHost({ plugins, config: await configOf(dir) });
  t.teardown(() => app.stop());
  const run = async (): Promise<number> => {
    await writeFile(note, '');
    await chmod(note, 0o666);
    const answer = await start(app, 'Admin');
    t.equal(answer.status, 200, answer.text);
    const [pid, uid, password, ...args] = (await until(() => readFile(note, 'utf8'), { what: 'the helper' }))
      .trim()
      .split(' ');
    t.equal(password, 'the-password');
    t.same(args, ['-f', 'host=127.0.0.1', 'port=5998', 'dbname=postgres', 'user=keeper']);
    if (process.getuid?.() === 0) t.equal(uid, '65534');
    return Number(pid);
  };
  const first = await run();
  await stop(app, 'Admin');
  await until(() => !lives(first), { what: 'the end of the helper' });
  const second = await run();
  t.ok(lives(second));
  await until(async () => (await ownLog(app)).some(line => line.endsWith('Admin subprocess: a job failed')), {
    what: 'what it says',
  });
  await app.host.stop();
  t.notOk(lives(second), 'it does not outlive the host');
});

t.test('the helper stays a part of its service over the end of a host', { skip }, async t => {
  const { dir, note } = await withHelper(t);
  const { pgadmin, ...others } = await configOf(dir);
  const configDir = path.join(dir, 'host');
  const port = await writeConfig(configDir, { ...others, pgadmin: { ...pgadmin, enabled: true } });
  const helper = async () => Number((await until(() => readFile(note, 'utf8'), { what: 'the helper' })).split(' ')[0]);
  const options = { plugins, env: { PATH: `${dir}:${process.env.PATH}` } };
  const first = await startStackwarden(configDir, port, options);
  const pid = await helper();
  first.child.kill('SIGKILL');
  await first.exited;
  t.ok(lives(pid));

  const second = await startStackwarden(configDir, port, options);
  const body = JSON.stringify({ process_name: 'Admin' });
  const headers = { 'content-type': 'application/json' };
  await writeFile(note, '');
  const restarted = await fetch(`${second.base}/process/restart-service`, { method: 'POST', headers, body });
  t.equal(restarted.status, 200, await restarted.text());
  t.notOk(lives(pid), 'that of the earlier run has ended');
  const next = await helper();
  second.child.kill('SIGTERM');
  await second.exited;
  t.notOk(lives(next));
});

t.test('pgAdmin gets the directory of the server programs', { skip }, async t => {
  const { dir, note } = await withHelper(t);
  const before = process.env.PATH;
  process.env.PATH = `${dir}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  await writeFile(path.join(dir, 'postgres'), '');
  const { postgres, pgadmin } = await configOf(dir);
  const app = await startHost({
    plugins,
    config: { postgres: { ...postgres, config_dir: path.join(dir, 'data') }, pgadmin },
  });
  t.teardown(() => app.stop());
  const paths = async (present: string) => {
    await writeFile(pgadmin.config_file, present);
    await writeFile(note, '');
    await chmod(note, 0o666);
    const answer = await start(app, 'Admin');
    t.equal(answer.status, 200, answer.text);
    await stop(app, 'Admin');
    const text = await readFile(pgadmin.config_file, 'utf8');
    return text.split('\n').filter(line => line.startsWith('DEFAULT_BINARY_PATHS'));
  };
  t.same(await paths(''), [`DEFAULT_BINARY_PATHS = {'pg': '${dir}'}`]);
  t.same(
    await paths("DEFAULT_BINARY_PATHS = {'pg-14': '/elsewhere'}\n"),
    [`DEFAULT_BINARY_PATHS = {'pg-14': '/elsewhere', 'pg': '${dir}'}`],
    'those of single versions stay',
  );
  t.same(await paths('DEFAULT_BINARY_PATHS = found()\n'), ['DEFAULT_BINARY_PATHS = found()'], 'what is computed stays');
  t.match((await ownLog(app)).join('\n'), /Admin is not told where the programs of the database server are/);
});
