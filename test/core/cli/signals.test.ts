// What signals do to a host, and what it prints about them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { COMMAND, spawnStackwarden, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const TICKER = {
  enabled: true,
  process_name: 'Ticker',
  command: ['sh', '-c', 'while :; do echo tick; sleep 0.1; done'],
};

t.test('SIGHUP reads the configuration and rotates the logs; SIGTERM stops, stage by stage', async t => {
  const configDir = testDir(t);
  const logDir = path.join(configDir, 'log');
  const logFile = path.join(logDir, 'ticker.log');
  const port = await writeConfig(configDir, { ticker: { ...TICKER, log_file: logFile } });
  const host = await startStackwarden(configDir, port, { plugins: ['process', 'config'] });
  const status = async () => (await fetch(`${host.base}/process/service-status?process_name=Ticker`)).json();
  await until(async () => ((await status()) as { status: string }).status === 'running');
  const rotated = async () => (await readdir(logDir)).filter(name => /_1\.log$/.test(name)).sort();
  t.same(await rotated(), []);
  const pid = /"pid":(\d+)/.exec(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'))?.[1];

  const file = path.join(configDir, 'stackwarden.json');
  const config = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(
    file,
    JSON.stringify({ ...config, tz: 'Europe/Berlin', dumb: { ...config.dumb, log_milliseconds: true } }),
  );
  host.child.kill('SIGHUP');
  await until(
    async () => ((await (await fetch(`${host.base}/config`)).json()) as { tz: string }).tz === 'Europe/Berlin',
  );
  await until(async () => (await rotated()).length === 2, {
    what: 'the own log and the log of the service to be rotated',
  });
  t.match(await status(), { status: 'running' });
  t.equal(/"pid":(\d+)/.exec(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'))?.[1], pid);

  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 0 });
  const lines = host.stdout().trimEnd().split('\n');
  const stages = [/host: SIGHUP: /, /host: stopping$/, /process: stopping Ticker$/, /host: the plugins are taken down/];
  const found = stages.map(stage => lines.findIndex(line => stage.test(line)));
  t.ok(
    found.every((place, index) => place > (found[index - 1] ?? -1)),
    `each stage has its line: ${found.join(', ')}`,
  );
  t.match(lines.at(-1), /:\d\d\.\d{3} - INFO - host: Stackwarden \S+ has stopped$/, 'with milliseconds by now');
  t.notMatch(host.stdout(), /\x1b\[/, 'a pipe gets no colours');
});

t.test('a SIGHUP during the start takes effect after the start', async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir);
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  const host = spawnStackwarden(configDir, { args: ['start', '--plugins', 'config'] });
  await until(() => host.stdout().includes('is in use by'));
  host.child.kill('SIGHUP');
  other.close();
  await until(() => host.stdout().includes('host: SIGHUP: the configuration is read again'));
  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 0 });
});

t.test('a SIGHUP without a configuration file says so', async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir);
  const host = await startStackwarden(configDir, port, { plugins: ['config'] });
  const file = path.join(configDir, 'stackwarden.json');
  await rename(file, `${file}.away`);
  host.child.kill('SIGHUP');
  await until(() =>
    host.stdout().includes(`${file} is not there; the configuration stays as it is, and the next save`),
  );
  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 0 });
});

t.test('no signal ends the host without its services', async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir, { ticker: TICKER });
  const host = await startStackwarden(configDir, port, { plugins: ['process'] });
  interface Status {
    readonly status: string;
    readonly pid: number | null;
  }
  const status = async () =>
    (await (await fetch(`${host.base}/process/service-status?process_name=Ticker`)).json()) as Status;
  await until(async () => (await status()).status === 'running');
  const before = await status();
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM', 'SIGIO', 'SIGSTKFLT', 'SIGXCPU'] as const) {
    host.child.kill(signal);
    await until(() => host.stdout().includes(`WARNING - host: ${signal} changes nothing`) || gone(host.child), {
      what: `a word about ${signal}`,
    });
    t.notOk(gone(host.child), `${signal} does not end it`);
  }
  host.child.kill('SIGUSR2');
  t.match(await status(), { status: 'running', pid: before.pid });
  t.notMatch(host.stderr(), /Debugger/, 'nor is a port opened for a debugger');

  host.child.kill('SIGQUIT');
  t.match(await host.exited, { code: 0 });
  t.equal(host.stdout().split('SIGUSR2 changes').length, 2, 'told once');
  t.match(host.stdout(), /process: stopping Ticker\n/);
});

t.test('SIGPWR, by which system containers are powered off, stops the host', async t => {
  const configDir = testDir(t);
  const host = await startStackwarden(configDir, await writeConfig(configDir), { plugins: ['config'] });
  host.child.kill('SIGPWR');
  t.match(await host.exited, { code: 0 });
});

function gone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

t.test('colours are for terminals, and NO_COLOR switches them off', async t => {
  const printed = async (env: Record<string, string>): Promise<string> => {
    const configDir = testDir(t);
    await writeConfig(configDir);
    const words = [process.execPath, ...COMMAND, 'start', '--plugins', 'config', '--config-dir', configDir];
    const child = spawn('script', ['-qec', words.join(' '), '/dev/null'], {
      env: { ...process.env, NODE_OPTIONS: '', TAP: '', NO_COLOR: '', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await until(() => output.includes('answers on'));
    // Ctrl-C, which the terminal delivers as SIGINT.
    child.stdin.write('\x03');
    await once(child, 'close');
    t.match(output, 'has stopped');
    return output;
  };
  t.match(await printed({}), /\x1b\[32m/);
  t.notMatch(await printed({ NO_COLOR: '1' }), /\x1b\[3\dm/);
});
