// What systemd is told of a host, on a socket like its own: ready, alive while the event loop runs, reloading,
// stopping.
import { execFile, spawn } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { programOf } from '../../support/debian.ts';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const notify = await programOf(['systemd-notify'], ['systemd']);
const python = await programOf(['python3'], ['python3-minimal']);

/** Prints each message and the pid from which the kernel says it comes. Node has no sockets of this kind. */
const RECEIVER = `
import json, socket, struct, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
receiver.bind(sys.argv[1])
while True:
    data, ancillary, _, _ = receiver.recvmsg(4096, socket.CMSG_SPACE(12))
    pids = [struct.unpack('3i', value)[0] for _, kind, value in ancillary if kind == socket.SCM_CREDENTIALS]
    print(json.dumps({'pid': pids[0], 'lines': data.decode().split('\\n')}), flush=True)
`;
/** A plugin whose route blocks the event loop until a file exists. */
const HOLDER = `
import { existsSync, writeFileSync } from 'node:fs';
const word = new Int32Array(new SharedArrayBuffer(4));
export default {
  name: 'holder',
  host: '^1',
  setup(host) {
    host.route({
      method: 'POST', path: '/holder', summary: 'Holds the event loop', capability: 'holder',
      handle() {
        writeFileSync(host.paths.configDir + '/held', '');
        while (!existsSync(host.paths.configDir + '/release')) Atomics.wait(word, 0, 0, 10);
        return {};
      },
    });
  },
};
`;
const WATCHDOG_MS = 100;
/** So many messages take several times as long as the watchdog interval. */
const OTHER_MESSAGES = 30;

interface Message {
  readonly pid: number;
  readonly lines: readonly string[];
}

t.test('systemd is told what the host does, and nothing while the event loop is blocked', async t => {
  const configDir = testDir(t);
  // Paths of sockets may have 107 bytes at most.
  const socketDir = await mkdtemp('/tmp/notify-');
  t.teardown(() => rm(socketDir, { recursive: true }));
  const socket = path.join(socketDir, 'socket');
  const told = path.join(configDir, 'told');
  await mkdir(path.join(configDir, 'plugins', 'holder'), { recursive: true });
  await writeFile(path.join(configDir, 'plugins', 'holder', 'index.js'), HOLDER);
  const receiver = spawn(python, ['-c', RECEIVER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => receiver.kill('SIGKILL'));
  let received = '';
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  const messages = (): Message[] =>
    received
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as Message)
      .filter(({ lines }) => lines[0] !== 'BARRIER=1');
  const count = (line: string): number => messages().filter(({ lines }) => lines[0] === line).length;

  const port = await writeConfig(configDir, {
    kid: {
      enabled: true,
      process_name: 'Kid',
      command: ['sh', '-c', `env > ${told}; exec sleep 1000`],
    },
  });
  await writeFile(told, '');
  await chown(told, 65_534, 65_534);
  // The host sends its first message only once.
  await until(() => stat(socket), { what: 'the receiver to listen' });
  const host = await startStackwarden(configDir, port, {
    args: ['start', '--plugins', 'auth,config,process,holder'],
    env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: String(WATCHDOG_MS * 1_000) },
  });
  await until(() => count('WATCHDOG=1') > 1, { what: 'two signs of life' });
  const [ready] = messages();
  t.same(ready, { pid: host.child.pid, lines: ['READY=1', `STATUS=answers on http://127.0.0.1:${port}`] });
  await until(async () => (await readFile(told, 'utf8')).includes('PATH='), { what: 'the service' });
  t.notMatch(await readFile(told, 'utf8'), /NOTIFY_SOCKET|WATCHDOG/, 'no service may speak for the host');

  const held = fetch(`${host.base}/holder`, { method: 'POST' });
  await until(() => readFile(path.join(configDir, 'held')).then(() => true), { what: 'the loop to be held' });
  const before = count('WATCHDOG=1');
  for (let index = 0; index < OTHER_MESSAGES; index += 1)
    await promisify(execFile)(notify, ['STATUS=held'], { env: { NOTIFY_SOCKET: socket } });
  await until(() => count('STATUS=held') === OTHER_MESSAGES, { what: 'what was sent meanwhile' });
  t.ok(count('WATCHDOG=1') <= before + 1, 'at most what was on its way');
  await writeFile(path.join(configDir, 'release'), '');
  await held;
  const after = count('WATCHDOG=1');
  await until(() => count('WATCHDOG=1') > after, { what: 'a sign of life' });

  host.child.kill('SIGHUP');
  await until(() => count('READY=1') === 2, { what: 'the end of the reload' });
  const reload = messages().find(({ lines }) => lines[0] === 'RELOADING=1');
  t.match(reload?.lines[1], /^MONOTONIC_USEC=\d+$/);
  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 0 });
  await until(() => count('STOPPING=1') === 1, { what: 'the stop' });
  t.match(messages().at(-1)?.lines, ['STOPPING=1'], 'the last message');
});
