// How long it takes from the moment at which a quiet child process writes a line until a client of `/ws/logs` has it.
// The baseline is a bare Node process that passes lines of the same child to a client of a bare ws server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import { until } from '../support/until.ts';
import { makePlace, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const LINES = 40;
/** Writes the current time, three times a second. */
const CHILD = [
  'node',
  '-e',
  'setInterval(() => console.log("stamp " + (performance.timeOrigin + performance.now())), 333)',
];

function serveBare(): void {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  const [program = '', ...args] = CHILD;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (data: Buffer) => {
    for (const client of server.clients) client.send(String(data));
  });
  process.once('SIGTERM', () => {
    child.kill();
    process.exit(0);
  });
  server.once('listening', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}

async function latencies(url: string): Promise<number[]> {
  const socket = new WebSocket(url);
  const found: number[] = [];
  socket.on('message', data => {
    const now = performance.timeOrigin + performance.now();
    for (const [, stamp] of String(data).matchAll(/stamp ([\d.]+)/g)) found.push(now - Number(stamp));
  });
  await until(() => found.length >= LINES, { timeoutMs: 120_000 });
  socket.terminate();
  return found;
}

async function measureBare(): Promise<number[]> {
  const server = spawn(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url), 'bare'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(server.stdout, 'data');
  try {
    return await latencies(`ws://127.0.0.1:${Number(port)}`);
  } finally {
    server.kill();
    await once(server, 'exit');
  }
}

async function measureHost(): Promise<number[]> {
  const place = await makePlace({
    stamper: { enabled: false, process_name: 'Stamper', command: CHILD, config_dir: '/' },
  });
  const host = await startBuilt(place);
  try {
    await host.post('/process/start-service', { process_name: 'Stamper' });
    return await latencies(`${host.base.replace('http', 'ws')}/ws/logs`);
  } finally {
    await host.end('SIGTERM');
    await place.remove();
  }
}

if (process.argv[2] === 'bare') serveBare();
else {
  const baseline = await measureBare();
  printFigure({ name: 'line', unit: 'ms from a quiet child to a client', runs: await measureHost(), baseline });
}
