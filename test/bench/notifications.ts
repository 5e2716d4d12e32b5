// Ten thousand events at once for five destinations of which one hangs: what emitting costs its caller, how long the
// event loop is held, and when the other four have received all that the queue accepts. There is no pause between
// messages.

import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { request } from 'undici';
import type { Host } from '../../core/contract/host.ts';
import { pluginsDir, startHost } from '../support/host.ts';
import { until } from '../support/until.ts';
import { printFigure } from './support/figures.ts';
import { type LongestTurn, meterTurns } from './support/turn-meter.ts';

const EVENTS = 10_000;
/** How many events the queue accepts for five destinations. */
const TAKEN = 1_000;
const US_PER_MS = 1_000;
const PLACE = 'notifications bench';
const RINGER = `export default { name: 'ringer', host: '^1', setup (host) {
  host.event('bell.rang', { description: 'The bell rang' })
  host.contribute('notifications.event', 'bell.rang', { severity: 'critical', duringStartup: true,
    describe: ({ count }) => ({ title: 'Ring ' + count, body: 'It rang for the ' + count + 'th time.' }) })
  globalThis[${JSON.stringify(PLACE)}] = host
} }`;
/** Receivers in a thread of their own; every path answers except `/hang`. */
const RECEIVER = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  let received = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === '/hang') return;
    received += 1;
    response.end();
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
  parentPort.on('message', () => parentPort.postMessage(received));
`;
const receiver = new Worker(RECEIVER, { eval: true });
const [port] = await once(receiver, 'message');
const count = async (): Promise<number> => {
  receiver.postMessage('count');
  return (await once(receiver, 'message'))[0];
};
const dir = await mkdtemp(path.join(tmpdir(), 'notifications-bench-'));
await mkdir(path.join(dir, 'ringer'));
await writeFile(path.join(dir, 'ringer', 'index.js'), RINGER);
const destinations = ['a', 'b', 'c', 'd', 'hang'].map(id => ({
  id,
  provider: 'webhook',
  url: `http://127.0.0.1:${port}/${id}`,
  cooldown_sec: 0,
}));
const app = await startHost({
  config: { dumb: { notifications: { enabled: true, destinations } } },
  pace: 0.0001,
  pluginDirs: [pluginsDir, dir],
  plugins: ['notifications', 'notify-webhook', 'ringer'],
});
await until(async () => (await app.get('/notifications/history')).status === 200);
const host = (globalThis as unknown as Record<string, Host>)[PLACE] as unknown as {
  emit(type: string, data: object): void;
};

/** What bare Node needs to emit as many events to one listener, and to post as many messages in four parallel lanes. */
async function measureBare(): Promise<{ emitMs: number; postMs: number; turn: LongestTurn }> {
  const emitter = new EventEmitter();
  let heard = 0;
  emitter.on('bell.rang', () => {
    heard += 1;
  });
  const started = performance.now();
  for (let n = 0; n < EVENTS; n += 1) setImmediate(() => emitter.emit('bell.rang', { count: n }));
  const emitMs = performance.now() - started;
  await until(() => heard === EVENTS, { intervalMs: 20 });
  const endMeter = meterTurns();
  const posting = performance.now();
  const lane = async (name: string) => {
    for (let n = 0; n < TAKEN; n += 1) {
      const answer = await request(`http://127.0.0.1:${port}/${name}`, { method: 'POST', reset: true, body: '{}' });
      await answer.body.dump();
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(lane));
  return { emitMs, postMs: performance.now() - posting, turn: endMeter() };
}

const bare = await measureBare();
const earlier = await count();
const rssBefore = process.memoryUsage.rss();
const started = performance.now();
for (let n = 0; n < EVENTS; n += 1) host.emit('bell.rang', { count: n });
const emitMs = performance.now() - started;
const endMeter = meterTurns();
await until(async () => (await count()) - earlier >= TAKEN * 4, { timeoutMs: 600_000 });
const deliveredMs = performance.now() - started;
const turn = endMeter();
const figure = (name: string, unit: string, value: number, baseline: number) =>
  printFigure({ name, unit, runs: [value], baseline: [baseline] });
figure('notifications: emit', 'us', (emitMs / EVENTS) * US_PER_MS, (bare.emitMs / EVENTS) * US_PER_MS);
figure('notifications: four of five destinations have all', 'ms', deliveredMs, bare.postMs);
figure('notifications: worst delay of the loop', 'ms', turn.heldMs, bare.turn.heldMs);
figure('notifications: processor time of the longest turn', 'ms', turn.processorMs, bare.turn.processorMs);
figure('notifications: memory', 'MB', (process.memoryUsage.rss() - rssBefore) / 1e6, 0);
await app.stop();
await receiver.terminate();
await rm(dir, { recursive: true });
