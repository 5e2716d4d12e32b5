// Requests per second through the whole HTTP path of a host with 120 routes, against bare node:http with the same
// answer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHttpEntrance } from '../../core/host/entrance.ts';
import { Scope } from '../../core/host/scope.ts';
import { printFigure } from './support/figures.ts';

const runs = 3;
const seconds = 3;
const connections = 50;
const warmUpSeconds = 1;
const value = { status: 'healthy', service: 'stackwarden', uptime: 12_345 };
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function serveBare(): Promise<number> {
  const server = createServer((_request, response) => {
    const body = JSON.stringify(value);
    response
      .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
      .end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function serveEntrance(): Promise<number> {
  const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-'));
  const http = createHttpEntrance({
    log: silent,
    configDir,
    version: '0.0.0',
    config: () => value,
    service: () => undefined,
    stopping: () => false,
  });
  const owner = new Scope({ plugin: 'bench', folder: configDir, log: silent, disposeMs: 5_000, errors: {} });
  for (let i = 0; i < 120; i++) {
    http.addRoute(owner, { method: 'GET', path: `/area/route-${i}`, summary: 'x', handle: () => value });
  }
  process.once('exit', () => rmSync(configDir, { recursive: true }));
  process.once('SIGTERM', () => process.exit(0));
  return (await http.listen({ host: '127.0.0.1', port: 0, retryMs: 0 })).port;
}

/** Starts a server in a process of its own, so that the load generator does not share its event loop. */
async function startServer(kind: 'bare' | 'entrance'): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url), kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: `http://127.0.0.1:${String(line).trim()}/area/route-77`, stop: () => void child.kill() };
}

async function measure(url: string, duration: number): Promise<number> {
  const { default: autocannon } = await import('autocannon');
  const result = await autocannon({ url, connections, duration });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} bad answers, ${result.errors} errors`);
  return Math.round(result.requests.average);
}

async function series(kind: 'bare' | 'entrance'): Promise<number[]> {
  const server = await startServer(kind);
  try {
    await measure(server.url, warmUpSeconds);
    const results: number[] = [];
    for (let run = 0; run < runs; run++) results.push(await measure(server.url, seconds));
    return results;
  } finally {
    server.stop();
  }
}

const kind = process.argv[2];
if (kind === 'bare') console.log(await serveBare());
else if (kind === 'entrance') console.log(await serveEntrance());
else {
  const bare = await series('bare');
  const entrance = await series('entrance');
  printFigure({ name: 'http-dispatch', unit: 'requests/s', runs: entrance, baseline: bare });
}
