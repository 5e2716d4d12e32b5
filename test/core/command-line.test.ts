// The command line: commands, options, and one clear line for everything that is wrong.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { parseCommandLine } from '../../core/command-line.ts';
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
  const run = spawnStackwarden(t.testdir({}), { args: ['start', '--wat'] });
  t.same(await run.exited, { code: 1, signal: null });
  t.match(run.stderr(), /^stackwarden: .*--wat.*\n$/);
});

t.test('check names file, line, column and what was expected', async t => {
  const configDir = t.testdir({});
  await writeConfig(configDir);
  const fine = spawnStackwarden(configDir, { args: ['check'] });
  t.equal((await fine.exited).code, 0, fine.stderr());
  await writeFile(path.join(configDir, 'stackwarden.json'), '{\n  "puid": 1000,\n  "pgid" 1000\n}\n');
  const run = spawnStackwarden(configDir, { args: ['check'] });
  t.equal((await run.exited).code, 1);
  t.match(run.stderr(), /stackwarden\.json:3:\d+.*expected/i);
});

t.test('a second host on the same directory, and a port in use', async t => {
  const configDir = t.testdir({ a: {}, b: {} });
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

  const taken = createServer();
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const address = taken.address() as { port: number };
  await writeConfig(path.join(configDir, 'b'), { dumb: { api_service: { port: address.port } } });
  const blocked = spawnStackwarden(path.join(configDir, 'b'));
  t.equal((await blocked.exited).code, 1);
  t.match(blocked.stderr(), new RegExp(`^stackwarden: .*127.0.0.1:${address.port}.*\n$`));
});
