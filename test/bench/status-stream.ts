// How long it takes from the death of a process until the last of 20 or 100 clients of `/ws/status` is told. The
// baseline is a bare ws server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import { until } from '../support/until.ts';
import { makePlace, sleepers, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SIZES = [20, 100];
const RUNS = 20;

interface State {
  readonly processes: Readonly<Record<string, { readonly pid: number }>>;
}

interface StatusMessage {
  readonly running: readonly string[];
}

/** Starts a child process on each SIGHUP, and tells every client when it starts and exits. */
function serveBare(): void {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  const tell = (running: string[]): void => {
    for (const client of server.clients) client.send(JSON.stringify({ type: 'status', running }));
  };
  process.on('SIGHUP', () => {
    const child = spawn('sleep', ['86400'], { stdio: 'ignore' });
    child.once('exit', () => tell([]));
    tell(['Sleeper 0']);
    process.stdout.write(`${child.pid}\n`);
  });
  server.once('listening', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}

class Audience {
  readonly #sockets: WebSocket[];
  readonly #running: boolean[] = [];
  readonly #toldMs: number[] = [];
  #left = false;

  constructor(sockets: WebSocket[]) {
    this.#sockets = sockets;
    for (const [index, socket] of sockets.entries()) {
      socket.on('close', (code, reason) => {
        if (!this.#left) throw new Error(`the server closed a client: ${code} ${reason}`);
      });
      socket.on('message', data => {
        const running = (JSON.parse(String(data)) as StatusMessage).running.includes('Sleeper 0');
        if (this.#running[index] === true && !running) this.#toldMs[index] = performance.now();
        this.#running[index] = running;
      });
    }
  }

  /** Connects clients with a long interval, so that news reaches them only because the host pushes it. */
  static async join(url: string, clients: number): Promise<Audience> {
    const sockets = Array.from({ length: clients }, () => new WebSocket(`${url}?interval=10`));
    const audience = new Audience(sockets);
    await Promise.all(sockets.map(socket => once(socket, 'open')));
    return audience;
  }

  /** Resolves with the latency of the client that is told last. */
  async witness(kill: () => void): Promise<number> {
    await until(() => this.#count(true), { intervalMs: 5 });
    const startedMs = performance.now();
    kill();
    await until(() => this.#count(false), { intervalMs: 5 });
    return Math.max(...this.#toldMs) - startedMs;
  }

  leave(): void {
    this.#left = true;
    for (const socket of this.#sockets) socket.terminate();
  }

  #count(running: boolean): boolean {
    return this.#running.filter(state => state === running).length === this.#sockets.length;
  }
}

async function measureBare(clients: number): Promise<number[]> {
  const server = spawn(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url), 'bare'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const number = async (): Promise<number> => Number((await once(server.stdout, 'data'))[0]);
  const port = await number();
  const audience = await Audience.join(`ws://127.0.0.1:${port}`, clients);
  const results: number[] = [];
  try {
    for (let run = 0; run < RUNS; run += 1) {
      const launched = number();
      server.kill('SIGHUP');
      const pid = await launched;
      results.push(await audience.witness(() => process.kill(pid, 'SIGKILL')));
    }
  } finally {
    audience.leave();
    server.kill();
  }
  return results;
}

async function measureHost(clients: number): Promise<number[]> {
  const place = await makePlace(sleepers(1));
  const host = await startBuilt(place);
  const audience = await Audience.join(`${host.base.replace('http', 'ws')}/ws/status`, clients);
  const results: number[] = [];
  try {
    for (let run = 0; run < RUNS; run += 1) {
      await host.post('/process/start-service', { process_name: 'Sleeper 0' });
      const state = JSON.parse(await readFile(path.join(place.configDir, 'supervisor', 'state.json'), 'utf8')) as State;
      const pid = state.processes['Sleeper 0']?.pid ?? 0;
      results.push(await audience.witness(() => process.kill(pid, 'SIGKILL')));
    }
  } finally {
    audience.leave();
    await host.end('SIGTERM');
    await place.remove();
  }
  return results;
}

if (process.argv[2] === 'bare') serveBare();
else
  for (const clients of SIZES) {
    const baseline = await measureBare(clients);
    const runs = await measureHost(clients);
    printFigure({ name: `status-stream-${clients}`, unit: `ms to the last of ${clients} clients`, runs, baseline });
  }
