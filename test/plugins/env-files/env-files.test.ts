// `env_file` of a block: read at each start as the services' user, overridden by `env`; an unreadable file refuses the
// start.
import { chmod, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

t.test('variables from files reach the service, overridden by `env`', async t => {
  const dir = testDir(t, {
    'one.env': "# a comment\nFROM_FILE=one\nQUOTED='two words'\nexport EXPORTED=yes\nOVER=file\nGONE=file\nno line\n",
    'two.env': '\uFEFFMARKED=yes\r\nFROM_FILE=two\r\n',
    'secret.env': 'SECRET=of-root\n',
    'large.env': `BIG=${'x'.repeat(300_000)}\n`,
    'odd.env': 'A=\0\n',
  });
  await chmod(dir, 0o755);
  await chmod(path.join(dir, 'secret.env'), 0o600);
  await symlink('secret.env', path.join(dir, 'link.env'));
  const files = (...names: string[]) => names.map(name => path.join(dir, name));
  const block = (processName: string, envFile: unknown, more: object = {}) => ({
    enabled: false,
    process_name: processName,
    command: ['sh', '-c', 'env; sleep 600'],
    suppress_logging: true,
    stop_grace_seconds: 1,
    env_file: envFile,
    ...more,
  });
  const app = await startHost({
    plugins: ['config', 'process', 'env-files'],
    config: {
      both: block('Both', files('one.env', 'two.env'), { env: { OVER: 'block', GONE: null } }),
      relative: block('Relative', [{ path: 'own.env' }, { path: 'absent.env', required: false }]),
      missing: block('Missing', 'absent.env'),
      ...Object.fromEntries(
        ['secret', 'link', 'large', 'odd'].map(name => [name, block(name, files(`${name}.env`)[0])]),
      ),
    },
  });
  t.teardown(() => app.stop());
  const shown = (name: string, line: string) =>
    until(async () => (await readFile(path.join(app.configDir, 'log', `${name}.log`), 'utf8')).includes(` ${line}\n`), {
      what: line,
    });

  t.match(await start(app, 'Both'), { status: 200 });
  for (const line of ['MARKED=yes', 'FROM_FILE=two', 'QUOTED=two words', 'EXPORTED=yes', 'OVER=block'])
    await shown('both', line);
  t.notMatch(await readFile(path.join(app.configDir, 'log', 'both.log'), 'utf8'), 'GONE=');
  await writeFile(path.join(dir, 'two.env'), 'FROM_FILE=three\n');
  await restart(app, 'Both');
  await shown('both', 'FROM_FILE=three');

  await chmod(app.configDir, 0o755);
  await writeFile(path.join(app.configDir, 'own.env'), 'OWN=here\n');
  await start(app, 'Relative');
  await shown('relative', 'OWN=here');
  const refused = async (name: string) => (await start(app, name)).body.detail;
  t.match(await refused('Missing'), /absent\.env cannot be read by user 65534; create it/);
  t.match(await refused('secret'), /secret\.env cannot be read by user 65534/);
  t.match(await refused('link'), /link\.env cannot be read by user 65534/);
  t.match(await refused('large'), /more than 262144 bytes/);
  t.match(await refused('odd'), /is no text/);
});
