// The init of containers: as PID 1 of a PID namespace it reaps orphans, forwards signals, and exits like its command.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const INIT = path.join(import.meta.dirname, '../../../core/cli/init.sh');
const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const [program = '', ...words] = NAMESPACE;
const skip = spawnSync(program, [...words, 'true']).status === 0 ? false : 'PID namespaces may not be made here';

/** On SIGHUP it leaves a thousand orphans, and prints when only it and the init are left in the process table. */
const COMMAND = `
const { execFileSync } = require('node:child_process');
const { readdirSync } = require('node:fs');
process.on('SIGTERM', () => process.exit(7));
process.on('SIGHUP', () => {
  for (let round = 0; round < 10; round += 1) execFileSync('sh', ['-c', 'for i in $(seq 100); do (true &); done']);
  setInterval(() => {
    if (readdirSync('/proc').filter(name => /^[0-9]+$/.test(name)).length === 2) console.log('reaped');
  }, 20);
});
setInterval(() => undefined, 1e6);
console.log('ready as ' + process.pid);
`;

interface UsageOfServices {
  readonly dumb_managed: readonly { readonly name: string }[];
}

function runInit(...command: string[]): { child: ChildProcess; output(): string } {
  const child = spawn(program, [...words, 'sh', INIT, ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
}

/** The pid, outside of the namespace, of the process that is PID 1 in it. */
function firstOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

t.test('orphans are reaped, signals are forwarded, and the exit code is that of the command', { skip }, async t => {
  const { child, output } = runInit(process.execPath, '-e', COMMAND);
  t.teardown(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  await until(() => output().includes('ready as 2'), { what: 'the command' });
  process.kill(firstOf(child), 'SIGHUP');
  await until(() => output().includes('reaped'), { what: 'every orphan to be reaped' });
  process.kill(firstOf(child), 'SIGTERM');
  t.same(await closed, [7, null]);
});

t.test('a command of a container has the input of the container', async t => {
  const given = spawnSync('sh', [INIT, 'cat'], { input: 'a password', encoding: 'utf8' });
  t.match(given, { status: 0, stdout: 'a password', stderr: '' });
  const closed = spawnSync('sh', ['-c', `exec sh "$0" echo done <&-`, INIT], { encoding: 'utf8' });
  t.match(closed, { status: 0, stdout: 'done\n', stderr: '' }, 'none is no fault');
});

t.test('a killed or missing command gives the exit code that shells use', { skip }, async t => {
  const killed = runInit('sh', '-c', 'kill -9 $$');
  t.same(await once(killed.child, 'close'), [137, null]);
  t.match(killed.output(), 'ended by signal 9');
  const missing = runInit('nosuch-command');
  t.same(await once(missing.child, 'close'), [127, null]);
});

t.test('every signal that asks for an end reaches the command', { skip }, async t => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGPWR'] as const) {
    const waits = `process.on('${signal}', () => process.exit(9)); setInterval(() => undefined, 1e6); console.log('up')`;
    const { child, output } = runInit(process.execPath, '-e', waits);
    t.teardown(() => child.kill('SIGKILL'));
    const closed = once(child, 'close');
    await until(() => output().includes('up'), { what: 'the command' });
    process.kill(firstOf(child), signal);
    t.same(await closed, [9, null], signal);
  }
});

t.test('a host below the init stops in order', { skip }, async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir);
  const host = await startStackwarden(configDir, port, { plugins: ['process'], within: [...NAMESPACE, 'sh', INIT] });
  process.kill(firstOf(host.child), 'SIGTERM');
  t.same(await host.exited, { code: 0, signal: null });
  t.match(host.stdout(), 'has stopped');
  t.notMatch(host.stdout(), 'PID 1');
});

t.test('a host below the init measures its services', { skip }, async t => {
  const configDir = testDir(t);
  const sleeper = { enabled: true, process_name: 'Sleeper', command: ['sleep', '1000'] };
  const port = await writeConfig(configDir, { sleeper });
  const within = [...NAMESPACE, 'sh', INIT];
  const host = await startStackwarden(configDir, port, { plugins: ['process', 'metrics'], within });
  await until(
    async () => {
      const { dumb_managed: managed } = (await (await fetch(`${host.base}/metrics`)).json()) as UsageOfServices;
      return managed.some(({ name }) => name === 'Sleeper');
    },
    { what: 'the usage of the service' },
  );
  process.kill(firstOf(host.child), 'SIGTERM');
  t.same(await host.exited, { code: 0, signal: null });
});
