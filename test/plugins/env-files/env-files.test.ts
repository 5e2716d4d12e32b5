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

t.test('variables for the set-up of a service', async t => {
  const gadget = {
    key: 'gadget',
    displayName: 'Gadget',
    kind: 'optional',
    description: 'A service of a test.',
    links: { repository: 'https://example.org/gadget' },
    block: {
      enabled: false,
      process_name: 'Gadget',
      command: [],
      suppress_logging: true,
    },
    setup: { secrets: [{ env: 'KEY', bytes: 16 }] },
    launch: {
      command: ['sh', '-c', 'echo "runs with $KEY at $PLACE; $MINE"; exec sleep 600'],
      environment: [{ name: 'PLACE', value: 'template' }],
      before: [['sh', '-c', 'test "$KEY $PLACE" = "of-file here"']],
    },
    stop: { tier: 2 },
  };
  const configDir = testDir(t, {
    'gadget.env': 'KEY=of-file\nPLACE=here\nMINE=file\n',
    templates: { services: { 'gadget.json': JSON.stringify(gadget) } },
  });
  await chmod(configDir, 0o755);
  const app = await startHost({
    configDir,
    plugins: ['config', 'process', 'services', 'setup', 'env-files'],
    config: { gadget: { env_file: 'gadget.env', stop_grace_seconds: 1, env: { MINE: 'block' } } },
  });
  t.teardown(() => app.stop());
  t.match(await start(app, 'Gadget'), { status: 200 }, 'the step before the start has them');
  t.notOk((await app.get('/config')).body.gadget.env?.KEY, 'no secret is generated in place of the one of the file');
  const log = path.join(configDir, 'log', 'gadget.log');
  const line = ' runs with of-file at here; block\n';
  await until(async () => (await readFile(log, 'utf8')).includes(line), { what: line });
});
