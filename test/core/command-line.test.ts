// The command line: commands, options, and one clear line for everything that is wrong.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { parseCommandLine } from '../../core/command-line.ts';
import { testDir } from '../support/directory.ts';
import { spawnStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';

t.test('commands and options', async t => {
  t.match(parseCommandLine([], {}), { command: 'start', example: false, plugins: undefined });
  t.match(parseCommandLine(['start', '--example'], {}), { command: 'start', example: true });
  t.match(parseCommandLine(['check', '--config-dir', '/tmp/x'], {}), { command: 'check', configDir: '/tmp/x' });
  t.match(parseCommandLine(['--plugins', 'a, b'], {}), { plugins: ['a', 'b'] });
  t.match(parseCommandLine(['--version'], {}), { command: 'version' });
  t.match(parseCommandLine(['start', '--help'], {}), { command: 'help' });
  t.match(parseCommandLine([], { STACKWARDEN_CONFIG_DIR: '/tmp/env' }), { configDir: '/tmp/env' });
  t.match(parseCommandLine(['--config-dir=/tmp/opt'], { STACKWARDEN_CONFIG_DIR: '/tmp/env' }), {
    configDir: '/tmp/opt',
  });
});

t.test('what cannot be understood is one sentence', async t => {
  for (const [args, message] of [
    [['dance'], /unknown command 'dance'/],
    [['start', 'now'], /unexpected argument 'now'/],
    [['--wat'], /--wat/],
    [['--config-dir'], /config-dir/],
    [['--plugins', 'a,,b'], /separated by commas/],
    [['check', '--example'], /belongs to 'start'/],
  ] as const) {
    t.throws(() => parseCommandLine([...args], {}), { message });
  }
});

t.test('a bad option ends with 1 and one line', async t => {
  const run = spawnStackwarden(testDir(t, {}), { args: ['start', '--wat'] });
  t.same(await run.exited, { code: 1, signal: null });
  t.match(run.stderr(), /^stackwarden: .*--wat.*\n$/);
});

t.test('check names file, line, column and what was expected', async t => {
  const configDir = testDir(t, {});
  await writeConfig(configDir);
  const fine = spawnStackwarden(configDir, { args: ['check'] });
  t.equal((await fine.exited).code, 0, fine.stderr());
  await writeFile(path.join(configDir, 'stackwarden.json'), '{\n  "puid": 1000,\n  "pgid" 1000\n}\n');
  const run = spawnStackwarden(configDir, { args: ['check'] });
  t.equal((await run.exited).code, 1);
  t.match(run.stderr(), /stackwarden\.json:3:\d+.*expected/i);
});

t.test('a second host on the same directory, and a port in use', async t => {
  const configDir = testDir(t, { a: {}, b: {} });
  const port = await writeConfig(path.join(configDir, 'a'));
  const service = await startStackwarden(path.join(configDir, 'a'), port);
  const second = spawnStackwarden(path.join(configDir, 'a'));
  t.equal((await second.exited).code, 1);
  t.match(second.stderr(), /^stackwarden: another Stackwarden \(pid \d+\).*\n$/);

  const health = spawnStackwarden(path.join(configDir, 'a'), { args: ['health'] });
  t.equal((await health.exited).code, 0, health.stdout() + health.stderr());
  service.child.kill('SIGTERM');
  t.same(await service.exited, { code: 0, signal: null });
  const afterwards = spawnStackwarden(path.join(configDir, 'a'), { args: ['health'] });
  t.equal((await afterwards.exited).code, 1);
  t.match(afterwards.stderr(), new RegExp(`^stackwarden: nothing answers at http://127.0.0.1:${port}/health.*\n$`));

  const taken = createServer();
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const address = taken.address() as { port: number };
  await writeConfig(path.join(configDir, 'b'), { dumb: { api_service: { port: address.port } } });
  const blocked = spawnStackwarden(path.join(configDir, 'b'));
  t.equal((await blocked.exited).code, 1);
  t.match(blocked.stderr(), new RegExp(`^stackwarden: .*127.0.0.1:${address.port}.*\n$`));
});

t.test('version and help are answered without any configuration', async t => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  const configDir = testDir(t, {});
  const ask = async (...args: string[]) => {
    const run = spawnStackwarden(configDir, { args });
    return { ...(await run.exited), stdout: run.stdout(), stderr: run.stderr() };
  };
  t.same(await ask('--version'), { code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  const help = await ask('--help');
  t.match(help, { code: 0, stderr: '' });
  for (const word of ['start', 'check', 'plugins', 'health', '--config-dir', '--plugins', '--example', '--version']) {
    t.ok(help.stdout.includes(word), `help tells of ${word}`);
  }
  t.same(await ask('-h'), help);
  t.match(await ask('plugins', 'surplus'), { code: 1, stdout: '', stderr: /^stackwarden: unexpected argument.*\n$/ });
  t.same(await readdir(configDir), [], 'nothing was written');
});

t.test('plugins lists every one, the broken too, and check names what is broken', async t => {
  const configDir = testDir(t, {
    plugins: {
      fine: { 'index.js': `export default { name: 'fine', host: '^1', setup () {} }` },
      broken: { 'index.js': `throw new Error('no luck')` },
    },
  });
  await writeConfig(configDir, { dumb: { plugins: { disabled: ['docs'] } } });
  const list = spawnStackwarden(configDir, { args: ['plugins'] });
  t.same(await list.exited, { code: 0, signal: null });
  const rows = list.stdout().trimEnd().split('\n');
  const row = (name: string) => rows.find(line => line.startsWith(`${name} `));
  t.match(row('fine'), /^fine +ready +.*plugins\/fine$/);
  t.match(row('broken'), /^broken +failed +.*no luck/);
  const check = spawnStackwarden(configDir, { args: ['check'] });
  t.same(await check.exited, { code: 1, signal: null });
  t.match(check.stderr(), /^plugin broken: .*no luck.*\n$/);
  const chosen = spawnStackwarden(configDir, { args: ['plugins', '--plugins', 'fine'] });
  await chosen.exited;
  t.match(chosen.stdout(), /^fine +ready /m);
  t.notMatch(chosen.stdout(), /^broken +(ready|failed) /m);
});

t.test('health tells what is not well, and ends with 1', async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir);
  const answers = ['{"status":"unhealthy","details":"Files is down"}', 'no JSON'];
  const server = createHttpServer((_request, response) => response.end(answers.shift()));
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  for (const output of ['unhealthy: Files is down\n', 'HTTP 200\n']) {
    const health = spawnStackwarden(configDir, { args: ['health'] });
    t.same(await health.exited, { code: 1, signal: null });
    t.equal(health.stdout(), output);
  }
});
