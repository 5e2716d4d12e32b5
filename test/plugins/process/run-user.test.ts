// `user` of a block: the service runs as that user and never as root, also after its record is lost. Without
// authentication the API cannot choose users.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, start } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const block = (processName: string, user: unknown, more: object = {}) => ({
  enabled: false,
  process_name: processName,
  command: ['sh', '-c', 'echo "$(id -u):$(id -g) groups $(id -G) $USER $HOME"; exec sleep 600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  user,
  ...more,
});

t.test('a service runs as its user', { skip: process.getuid?.() !== 0 && 'users are changed as root' }, async t => {
  const configDir = testDir(t, {});
  const services = {
    named: block('Named', 'daemon'),
    numbered: block('Numbered', 31_234),
    grouped: block('Grouped', 'daemon:nogroup', { env: { USER: 'chosen' } }),
    root: block('Root', 'root'),
    rooted: block('Rooted', 'daemon:0'),
    unknown: block('Unknown', 'no-such-user'),
    foreign: block('Foreign', 'daemon:shadow'),
    unnamed: block('Unnamed', ':tty'),
    ungrouped: block('Ungrouped', 'daemon:'),
    directory: block('Directory', '1234600001:1234600002'),
    beyond: block('Beyond', '2147483648'),
    plain: block('Plain', ''),
  };
  const plugins = ['config', 'process', 'services'];
  const app = await startHost({ configDir, plugins, config: services });
  const output = (name: string, line: string) =>
    until(async () => (await readFile(path.join(configDir, 'log', `${name}.log`), 'utf8')).includes(line), {
      what: line,
    });
  for (const name of ['Named', 'Numbered', 'Grouped', 'Plain']) t.match(await start(app, name), { status: 200 });
  await output('named', '1:1 groups 1 daemon /usr/sbin');
  await output('numbered', '31234:65534 groups 65534 31234 /tmp');
  await output('grouped', '1:65534 groups 65534 chosen /usr/sbin');
  await output('plain', '65534:65534');
  const refused = async (name: string) => (await start(app, name)).body;
  t.match(await refused('Root'), { detail: /no service is started as root/ });
  t.match(await refused('Rooted'), { detail: /no service is started as root/ });
  t.match(await refused('Unknown'), { detail: /there is no user 'no-such-user'; correct the key user/ });
  t.match(await refused('Unnamed'), { detail: /there is no user ''; correct the key user/ });
  t.match(await refused('Ungrouped'), { detail: /there is no group ''; correct the key user/ });
  t.notMatch(await refused('Directory'), { detail: /there is no (?:user|group)/ }, 'as directories of accounts have');
  t.match(await refused('Beyond'), { detail: /there is no user '2147483648'; correct the key user/ });
  t.match(await refused('Foreign'), { detail: /group shadow is none of this user/ });

  const change = (updates: object, processName?: string) =>
    app.post('/config', { ...(processName === undefined ? {} : { process_name: processName }), updates });
  for (const [updates, name] of [
    [{ user: 'games' }, 'Plain'],
    [{ command: ['id'] }, 'Named'],
    [{ env: { LD_PRELOAD: '/tmp/x.so' } }, 'Named'],
    [{ repo_owner: 'somebody' }, 'Named'],
    [{ more: block('More', 'daemon') }],
  ] as const)
    t.match(await change(updates, name), {
      status: 403,
      body: { detail: /while authentication is off; switch it on/ },
    });
  t.equal((await change({ stop_grace_seconds: 2 }, 'Named')).status, 200);
  t.equal((await change({ user: '' }, 'Grouped')).status, 200, 'the user of all services is nobody of his choice');
  t.equal((await change({ postgres: { user: 'somebody' } })).status, 200, 'a kind of service whose key this is');

  const pid = await pidOf(app, 'Numbered');
  await app.host.stop('fault');
  await rm(path.join(configDir, 'supervisor', 'state.json'));
  const next = await startHost({ configDir, plugins });
  t.teardown(() => next.stop());
  await until(async () => (await pidOf(next, 'Numbered')) === pid, { what: 'the one that runs' });
  t.ok((await ownLog(next)).some(line => line.includes('the record of Numbered is lost')));
});
