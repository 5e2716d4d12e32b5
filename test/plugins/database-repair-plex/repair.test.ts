// The repair of a Plex database with a stand-in for the real tool, beside a server that tells who is watching.
import { existsSync, statSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { hold, holderFolder, release } from '../../support/holder.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { lives, pidOf, start, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { freePort, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = [
  'config',
  'process',
  'services',
  'setup',
  'config-files',
  'format-xml',
  'logs',
  'database-repair-plex',
];
const skip = !PLUGINS.every(name => existsSync(path.join(pluginsDir, name)));
const NAME = 'Server';

/** A server that logs requests for its sessions, and answers with the number in the file `watching`. */
const SERVER = `const { appendFileSync, readFileSync } = require('node:fs')
require('node:http').createServer(({ url, headers }, answer) => {
  if (url !== '/status/sessions' || headers['x-plex-token'] !== 'the-token') return answer.writeHead(401).end()
  appendFileSync('asked', '.')
  answer.end('<?xml version="1.0"?><MediaContainer size="' + readFileSync('watching', 'utf8') + '"></MediaContainer>')
}).listen(Number(process.argv[2]), '127.0.0.1')`;
/**
 * Fails while the server runs, as the real tool does, and waits for a file before it goes on. With `LEAVES` it leaves a
 * process behind that keeps its output open.
 */
const TOOL = `#!/bin/sh
if kill -0 "$(cat server.pid 2>/dev/null)" 2>/dev/null; then echo "the server is running"; exit 2; fi
echo "repairing with $* for $WHOM token=aaaabbbbccccddddeeeeffff"
id -u > ran-as
echo $$ > tool.pid
[ -z "$LEAVES" ] || setsid sh -c 'echo $$ > left; exec sleep 1000' &
until [ -s go-on ]; do sleep 0.05; done
exit "$(cat go-on)"
`;

async function prepare(t: Test, dbrepair: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const dir = testDir(t, {
    home: { watching: '2', 'server.cjs': SERVER, 'Preferences.xml': '<Preferences/>' },
    host: {},
  });
  const home = path.join(dir, 'home');
  for (const place of [dir, home]) await chmod(place, 0o777);
  await writeFile(path.join(home, 'Preferences.xml'), '<Preferences PlexOnlineToken="the-token"/>\n');
  await chmod(path.join(home, 'Preferences.xml'), 0o666);
  await writeFile(path.join(home, 'DBRepair.sh'), TOOL);
  await chmod(path.join(home, 'DBRepair.sh'), 0o755);
  const port = await freePort();
  const config = {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    plex: {
      enabled: true,
      process_name: NAME,
      port,
      config_dir: home,
      config_file: path.join(home, 'Preferences.xml'),
      command: ['sh', '-c', `echo $$ > server.pid; exec ${process.execPath} server.cjs ${port}`],
      stop_grace_seconds: 2,
      dbrepair: {
        enabled: true,
        install_dir: home,
        sqlite_path: '/usr/lib/Plex SQLite',
        databases_path: home,
        log_file: 'plex_dbrepair.log',
        env: { WHOM: 'the library' },
        idle_check_minutes: 0.001,
        ...dbrepair,
      },
      ...more,
    },
  };
  return { configDir: path.join(dir, 'host'), home, config };
}

async function open(
  t: Test,
  dbrepair: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Promise<{ app: TestHost; home: string }> {
  const { configDir, home, config } = await prepare(t, dbrepair, more);
  const pluginDirs = [pluginsDir, await holderFolder(t)];
  const app = await startHost({ configDir, pluginDirs, plugins: [...PLUGINS, 'holder'], config });
  t.teardown(() => app.stop());
  return { app, home };
}

const toolLog = ({ configDir }: TestHost) => readFile(path.join(configDir, 'log', 'plex_dbrepair.log'), 'utf8');
const told = async (app: TestHost, text: RegExp) => (await ownLog(app)).some(line => text.test(line));

t.test('a server in use is left alone; an idle one is stopped, repaired and started again', { skip }, async t => {
  const { app, home } = await open(t, { max_backoff_minutes: 0.001 });
  const before = await until(async () => (await status(app, NAME)).status === 'running' && (await pidOf(app, NAME)));
  const asked = path.join(home, 'asked');
  await until(() => existsSync(asked) && statSync(asked).size >= 2, { what: 'two looks at who watches' });
  t.notOk(existsSync(path.join(home, 'ran-as')), 'somebody watches');
  await writeFile(path.join(home, 'watching'), '0');
  await until(() => existsSync(path.join(home, 'ran-as')), { what: 'the repair' });
  t.match(await status(app, NAME), { status: 'stopped', held: { reason: 'its database is being repaired' } });
  t.equal((await start(app, NAME)).status, 409);
  await writeFile(path.join(home, 'go-on'), '0');
  await until(async () => (await status(app, NAME)).status === 'running', { what: 'the server after the repair' });
  t.not(await pidOf(app, NAME), before);
  await until(() => told(app, /has looked after the database of Server/));
  const log = await toolLog(app);
  t.match(
    log,
    / - INFO - Plex DBRepair subprocess: repairing with --sqlite \/usr\/lib\/Plex SQLite --databases .* auto for the library/,
  );
  t.notMatch(log, 'aaaabbbbccccddddeeeeffff', 'no secret of it');
  if (process.getuid?.() === 0) t.equal((await readFile(path.join(home, 'ran-as'), 'utf8')).trim(), '65534');
  t.equal((await app.get('/logs?process_name=Plex%20DBRepair')).status, 200);
});

t.test('a server that was started by hand is looked after too', { skip }, async t => {
  const { configDir, home, config } = await prepare(t, {});
  const plex = { ...config.plex, enabled: false };
  const app = await startHost({ configDir, plugins: PLUGINS, config: { ...config, plex } });
  t.teardown(() => app.stop());
  t.equal((await start(app, NAME)).status, 200);
  await until(() => existsSync(path.join(home, 'asked')), { what: 'a look at who watches' });
});

t.test('a repair that is due while other work holds the server comes after that', { skip }, async t => {
  const { app, home } = await open(t, { max_backoff_minutes: 0.001 });
  const asked = path.join(home, 'asked');
  await until(() => existsSync(asked), { what: 'a look at who watches' });
  t.equal((await hold(app, NAME)).status, 200);
  await until(async () => (await status(app, NAME)).held, { what: 'the hold' });
  await writeFile(path.join(home, 'watching'), '0');
  const before = statSync(asked).size;
  await until(() => statSync(asked).size >= before + 3, { what: 'looks after nobody watches any more' });
  t.notOk(existsSync(path.join(home, 'ran-as')));
  await release(app, NAME);
  await until(() => existsSync(path.join(home, 'ran-as')), { what: 'the repair' });
  await writeFile(path.join(home, 'go-on'), '0');
  await until(() => told(app, /has looked after the database of Server/));
  t.notOk(await told(app, /Plex DBRepair failed/));
});

t.test('the tool runs as the user of the server', { skip: skip || process.getuid?.() !== 0 }, async t => {
  const { app, home } = await open(t, { run_before_start: true }, { user: 'daemon' });
  await writeFile(path.join(home, 'go-on'), '0');
  await until(async () => (await status(app, NAME)).status === 'running', { what: 'the server' });
  t.equal((await readFile(path.join(home, 'ran-as'), 'utf8')).trim(), '1');
});

t.test('a start goes on when the repair before it fails or its tool is missing', { skip }, async t => {
  const { app, home } = await open(t, { run_before_start: true, env: { LEAVES: '1' } });
  const left = await until(async () => Number(await readFile(path.join(home, 'left'), 'utf8').catch(() => '')));
  t.equal((await status(app, NAME)).status, 'starting');
  await writeFile(path.join(home, 'go-on'), '3');
  await until(async () => (await status(app, NAME)).status === 'running', { what: 'the server all the same' });
  t.ok(await told(app, /Plex DBRepair failed, and Server starts all the same/));

  await app.post('/config', {
    process_name: NAME,
    updates: { dbrepair: { enabled: true, run_before_start: true, install_dir: path.join(home, 'nowhere') } },
  });
  t.ok(lives(left));
  t.equal((await app.post('/process/restart-service', { process_name: NAME })).status, 200);
  t.notOk(lives(left), 'what the tool has left behind is ended before the next start');
  t.ok(
    await told(app, /the database of Server is not repaired: .*nowhere\/DBRepair\.sh is not installed; get it from/),
  );
});

t.test('a tool that is killed is reported, and the server starts all the same', { skip }, async t => {
  const { app, home } = await open(t, { run_before_start: true });
  process.kill(await until(async () => Number(await readFile(path.join(home, 'tool.pid'), 'utf8'))), 'SIGKILL');
  await until(async () => (await status(app, NAME)).status === 'running', { what: 'the server all the same' });
  await until(() => told(app, /Plex DBRepair failed, and Server starts all the same: it was killed by SIGKILL/));
});

t.test('a repair whose host was killed is ended before the server is started', { skip }, async t => {
  const { configDir, home, config } = await prepare(t, { run_before_start: true });
  const port = await writeConfig(configDir, config);
  const toolPid = () => until(async () => Number(await readFile(path.join(home, 'tool.pid'), 'utf8')));
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  const pid = await toolPid();
  first.child.kill('SIGKILL');
  await first.exited;
  t.ok(lives(pid));
  await writeFile(path.join(home, 'tool.pid'), '');
  const second = await startStackwarden(configDir, port, { plugins: PLUGINS });
  t.ok(await toolPid());
  t.notOk(lives(pid), 'one at a time');
  await writeFile(path.join(home, 'go-on'), '0');
  await until(() => existsSync(path.join(home, 'server.pid')), { what: 'the server' });
  second.child.kill('SIGTERM');
  await second.exited;
});
