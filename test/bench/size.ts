// What a host costs with 5 to 500 independent services: boot, idling, stop, `GET /health`, a save, and 100 clients of
// `/ws/status`, with the longest pause of the event loop. The baselines are bare Node, which spawns and ends the same
// programs, answers and sends the same bytes, and writes the same file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import { startBareServer } from './support/bare-server.ts';
import {
  type BuiltHost,
  cpuMs,
  makePlace,
  type Place,
  residentMegabytes,
  sleepers,
  startBuilt,
} from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SIZES = [5, 25, 50, 100, 200, 500];
const LOOK_MS = 100;
const SETTLE_MS = 5_000;
const IDLE_MS = 10_000;
const ASKS = 50;
const SAVES = 5;
const CLIENTS = 100;
const STREAM_MS = 10_000;
const INTERVAL_MS = 2_000;

interface Status {
  readonly terminal: boolean;
  readonly phase: string;
}

const file = fileURLToPath(import.meta.url);

async function bare(count: number): Promise<void> {
  const startedMs = performance.now();
  const children = Array.from({ length: count }, () => spawn('sleep', ['86400'], { detached: true, stdio: 'ignore' }));
  await Promise.all(children.map(child => once(child, 'spawn')));
  const startMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage();
  const stoppingMs = performance.now();
  const exits = children.map(child => once(child, 'exit'));
  for (const child of children) child.kill();
  await Promise.all(exits);
  console.log(JSON.stringify({ startMs, startCpuMs: (user + system) / 1_000, stopMs: performance.now() - stoppingMs }));
}

interface Bare {
  readonly startMs: number;
  readonly startCpuMs: number;
  readonly stopMs: number;
}

async function bareRun(count: number): Promise<Bare> {
  const child = spawn(process.execPath, ['--import=tsx', file, 'bare', String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(String(line)) as Bare;
}

/** Sends each client the first message of that stream again and again, at the same interval. */
async function serveStream(url: string): Promise<void> {
  const source = new WebSocket(url);
  const [text] = await once(source, 'message');
  source.terminate();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  setInterval(() => {
    for (const client of server.clients) client.send(String(text));
  }, INTERVAL_MS);
  console.log((server.address() as AddressInfo).port);
}

async function startStream(url: string) {
  const child = spawn(process.execPath, ['--import=tsx', file, 'stream', url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(child.stdout, 'data');
  return { pid: child.pid ?? 0, url: `ws://127.0.0.1:${String(port).trim()}`, end: () => child.kill() };
}

async function spent(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = await cpuMs(pid);
  await work();
  return (await cpuMs(pid)) - before;
}

/** Processor time per request, including what the host does meanwhile. */
async function ask(base: string, pid: number): Promise<number> {
  const work = async (): Promise<void> => {
    for (let index = 0; index < ASKS; index += 1) await (await fetch(`${base}/health`)).arrayBuffer();
  };
  await work();
  return (await spent(pid, work)) / ASKS;
}

async function save(host: BuiltHost): Promise<number> {
  const set = (grace: number): Promise<void> =>
    host.post('/config', { updates: { sleeper_0: { stop_grace_seconds: grace } }, persist: true });
  await set(1);
  const used = await spent(host.pid, async () => {
    for (let index = 0; index < SAVES; index += 1) await set(2 + index);
  });
  return used / SAVES;
}

/** Reads the file as JSON and replaces it. */
async function saveBare({ configDir }: Place): Promise<number> {
  const target = path.join(configDir, 'stackwarden.json');
  const text = await readFile(target, 'utf8');
  const copy = `${target}.bench`;
  return spent(process.pid, async () => {
    await writeFile(copy, JSON.stringify(JSON.parse(text), null, 2));
    await rename(copy, `${copy}.done`);
  });
}

/** Percent of a core that 100 clients cost. */
async function stream(pid: number, url: string): Promise<number> {
  const sockets = Array.from({ length: CLIENTS }, () => new WebSocket(url));
  await Promise.all(sockets.map(socket => once(socket, 'open')));
  await delay(INTERVAL_MS);
  const used = await spent(pid, () => delay(STREAM_MS));
  for (const socket of sockets) socket.terminate();
  return (used / STREAM_MS) * 100;
}

async function measure(count: number): Promise<void> {
  const baseline = await bareRun(count);
  const enabled = Object.entries(sleepers(count)).map(([key, block]) => [key, { ...(block as object), enabled: true }]);
  const startup = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };
  const place = await makePlace({ ...Object.fromEntries(enabled), dumb: { startup } });
  const host = await startBuilt(place, [], true);
  const beganMs = performance.now();
  await host.longestPauseMs();
  const before = await cpuMs(host.pid);
  while (!(await host.get<Status>('/process/startup-status')).terminal) await delay(LOOK_MS);
  const bootMs = performance.now() - beganMs;
  const cpu = (await cpuMs(host.pid)) - before;
  const bootPauseMs = await host.longestPauseMs();
  host.restMeter();
  await delay(SETTLE_MS);
  const idle = (await spent(host.pid, () => delay(IDLE_MS))) / IDLE_MS;
  const memory = await residentMegabytes(host.pid);
  const bareServer = await startBareServer(host.base);
  const asks = [await ask(host.base, host.pid), await ask(bareServer.base, bareServer.pid)] as const;
  await bareServer.end();
  const saves = [await save(host), await saveBare(place)] as const;
  const streamUrl = `${host.base.replace('http', 'ws')}/ws/status?health=true&interval=${INTERVAL_MS / 1_000}`;
  const bareStream = await startStream(streamUrl);
  const streams = [await stream(host.pid, streamUrl), await stream(bareStream.pid, bareStream.url)] as const;
  bareStream.end();
  await host.longestPauseMs();
  await ask(host.base, host.pid);
  await save(host);
  await stream(host.pid, streamUrl);
  const workPauseMs = await host.longestPauseMs();
  const stoppingMs = performance.now();
  await host.end('SIGTERM');
  const stopMs = performance.now() - stoppingMs;
  await place.remove();
  const one = (what: string, unit: string, value: number, base: number): void =>
    printFigure({ name: `size-${count}-${what}`, unit, runs: [value], baseline: [base] });
  one('boot', 'ms', bootMs, baseline.startMs);
  one('boot-cpu', 'ms of CPU per service', cpu / count, baseline.startCpuMs / count);
  one('boot-pause', 'ms, longest', bootPauseMs, 0);
  one('idle', '% of one core', idle * 100, 0);
  one('memory', 'MB resident', memory, 0);
  one('health', 'ms of CPU', ...asks);
  one('save', 'ms of CPU', ...saves);
  one('status-stream', `% of one core, ${CLIENTS} clients`, ...streams);
  one('pause', 'ms, longest during health, saves and streams', workPauseMs, 0);
  one('stop', 'ms', stopMs, baseline.stopMs);
}

const [, , mode, given = ''] = process.argv;
if (mode === 'bare') await bare(Number(given));
else if (mode === 'stream') await serveStream(given);
else for (const count of mode === undefined ? SIZES : [Number(mode)]) await measure(count);
