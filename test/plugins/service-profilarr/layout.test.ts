// The two layouts of Profilarr: the installed one is started, with its own variables.
import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { noting, seenBy } from '../../support/seen.ts';
import { freePort } from '../../support/stackwarden.ts';

const skip = !['service-profilarr', 'setup', 'services'].every(name => existsSync(path.join(pluginsDir, name)));

t.test('the second layout is one program with a variable for its data', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const program = path.join(dir, 'runtime/profilarr');
  await noting(program);
  const port = await freePort();
  const { block } = JSON.parse(
    await readFile(new URL('../../../templates/services/profilarr.json', import.meta.url), 'utf8'),
  );
  const { command, env: given } = block;
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-profilarr'],
    config: {
      profilarr: {
        instances: {
          Default: {
            command,
            env: { ...given, DENO_DIR: '/elsewhere' },
            process_name: 'Profilarr',
            port,
            config_dir: dir,
            log_file: path.join(dir, 'own.log'),
          },
        },
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Profilarr');
  t.equal(answer.status, 200, answer.text);
  const { args, env } = await seenBy(program);
  t.same(args, []);
  t.match(env, {
    APP_BASE_PATH: `${dir}/config`,
    PORT: String(port),
    HOST: '0.0.0.0',
    HOME: `${dir}/config`,
    XDG_CACHE_HOME: `${dir}/config/.cache`,
    DENO_DIR: '/elsewhere',
    DENO_NO_UPDATE_CHECK: '1',
  });
  t.notOk('PYTHONPATH' in env, 'variables of the first layout are left out');
});
