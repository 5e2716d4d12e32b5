// pgAgent runs beside pgAdmin: started with it, with the password in a variable alone, and ended with it.
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { lives, start, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-pgadmin', 'service-postgres', 'setup', 'services', 'format-python'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

t.test('the helper comes and goes with its service', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const agent = path.join(dir, 'pgagent');
  const note = path.join(dir, 'note');
  await writeFile(agent, `#!/bin/sh\necho "$$ $(id -u) $PGPASSWORD $*" > ${note}\nexec sleep 600\n`);
  await chmod(agent, 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${dir}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const app = await startHost({
    plugins: [
      'config',
      'process',
      'services',
      'setup',
      'service-pgadmin',
      'service-postgres',
      'config-files',
      'format-python',
    ],
    config: {
      postgres: { port: 5_998, user: 'keeper', password: 'the-password' },
      pgadmin: {
        process_name: 'Admin',
        port: await freePort(),
        config_dir: dir,
        config_file: path.join(dir, 'config_local.py'),
        log_file: path.join(dir, 'own.log'),
        command: ['sleep', '600'],
      },
    },
  });
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
  await app.host.stop();
  t.notOk(lives(second), 'it does not outlive the host');
});
