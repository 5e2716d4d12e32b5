// `/ws/status`: its messages, their intervals, and how the stream treats its clients.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { WebSocket } from 'ws';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { kid, start, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages of any shape are looked into
type Message = any;

function listen(app: TestHost, query = ''): { socket: WebSocket; messages: Message[] } {
  const socket = app.ws(`/ws/status${query}`);
  const messages: Message[] = [];
  socket.on('message', (data, isBinary) => {
    if (!isBinary) messages.push(JSON.parse(String(data)));
  });
  return { socket, messages };
}

t.test('messages name the running processes and their changes', async t => {
  const app = await startHost({ config: { one: kid('One', ['calm']), two: kid('Two', ['calm']) } });
  t.teardown(() => app.stop());
  await start(app, 'One');
  const plain = listen(app, '?interval=10');
  const full = listen(app, '?interval=10&health=true');

  const first = await until(() => plain.messages[0], { what: 'the first message, long before the interval' });
  t.same(first, { type: 'status', running: ['One', 'DUMB API'] }, 'names of what runs, the API included');
  const detailed = await until(() => full.messages[0]);
  t.same(
    detailed.processes.map((entry: Message) => [entry.process_name, entry.status]),
    [
      ['One', 'running'],
      ['Two', 'stopped'],
      ['DUMB API', 'running'],
    ],
    'every configured process in the order of the file, stopped ones too',
  );
  const fields = [
    'health_details',
    'health_reason',
    'health_status',
    'healthy',
    'held',
    'install',
    'process_name',
    'restart',
    'status',
  ];
  t.same(Object.keys(detailed.processes[0]).sort(), fields);

  await start(app, 'Two');
  await until(() => plain.messages.at(-1).running.includes('Two'), { timeoutMs: 9_000, what: 'a push of the start' });
  const states = () =>
    full.messages.map(({ processes }) => processes.find((entry: Message) => entry.process_name === 'Two'));
  t.match(
    await until(() => states().find(({ status }) => status === 'running')),
    { health_status: 'healthy', restart: { readiness_state: 'ready' } },
    'what can be asked for nothing is well from when it runs on',
  );
  await stop(app, 'One');
  await until(() => !plain.messages.at(-1).running.includes('One'), { timeoutMs: 9_000, what: 'a push of the stop' });

  const file = path.join(app.configDir, 'stackwarden.json');
  const { one: _one, ...others } = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify(others));
  const removed = await until(() => {
    const last = full.messages.at(-1).processes;
    return last.some((entry: Message) => entry.process_name === 'One') ? null : full.messages;
  });
  const mentions = removed.filter((message: Message) =>
    message.processes.some((entry: Message) => entry.process_name === 'One'),
  );
  const entry = mentions.at(-1).processes.find((found: Message) => found.process_name === 'One');
  t.equal(entry.status, 'stopped', 'a process that left the configuration is last seen stopped');

  plain.socket.send('ping');
  await until(() => plain.messages.some(message => message.type === 'pong'));
  plain.messages.length = 0;
  plain.socket.send('{"type":"ping"}');
  plain.socket.send('{"type":"something else"}');
  plain.socket.send('nonsense');
  await until(() => plain.messages.some(message => message.type === 'pong'));
  t.equal(plain.socket.readyState, plain.socket.OPEN, 'unknown messages are passed over');
  plain.socket.send('x'.repeat(5_000));
  const [code] = await once(plain.socket, 'close');
  t.equal(code, 1009, 'a message above 4 KiB');
  full.socket.terminate();
});

t.test('any interval of a client is served within limits', async t => {
  const app = await startHost();
  t.teardown(() => app.stop());
  for (const interval of ['0.001', '0.5', 'soon', '']) {
    const { socket, messages } = listen(app, `?interval=${interval}`);
    await until(() => messages.length >= 2, { timeoutMs: 20_000, what: `a second message with interval=${interval}` });
    t.equal(messages[1].type, 'status', `interval=${interval || 'nothing'} is served`);
    socket.terminate();
  }
  const { socket, messages } = listen(app, '?health=perhaps');
  const [message] = await until(() => (messages.length > 0 ? messages : null));
  t.ok(message.running, 'an unknown boolean counts as the default');
  socket.terminate();
});

t.test('clients with one interval share each message', async t => {
  const CLIENTS = 10;
  const EACH = 6;
  const counter = { reports: 0 };
  Object.assign(globalThis, { stackwardenTestCounter: counter });
  const dir = testDir(t, {
    restarts: {
      'index.mjs': `export default {
        name: 'restarts',
        host: '^1',
        setup(host) {
          const report = () => {
            globalThis.stackwardenTestCounter.reports += 1;
            return { attempts: 0, successes: 0, failures: 0, recentAttempts: 0 };
          };
          host.provide('process.restarts', { report });
        },
      };`,
    },
  });
  const app = await startHost({ plugins: ['process', 'restarts'], pluginDirs: [pluginsDir, dir] });
  t.teardown(() => app.stop());
  const clients = Array.from({ length: CLIENTS }, () => listen(app, '?interval=0.5&health=true'));
  await until(() => clients.every(({ messages }) => messages.length >= EACH), { what: 'some messages to each client' });
  const made = counter.reports;
  for (const { socket } of clients) socket.terminate();
  // Each client gets a first message of its own, made for the host's own process.
  t.ok(made < (CLIENTS * EACH) / 2, `${made} messages were made, ${CLIENTS * EACH} or more received`);
});
