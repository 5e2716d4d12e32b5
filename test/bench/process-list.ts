// Requests per second of `GET /process/processes` with 40 running processes and all known services. The baseline is
// bare node:http with the same bytes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { makePlace, sleepers, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const RUNNING = 40;
const RUNS = 3;
const RUN_S = 4;
const WARM_UP_S = 2;
const CONNECTIONS = 50;

async function serveBare(source: string): Promise<void> {
  const body = Buffer.from(await (await fetch(source)).arrayBuffer());
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
}

async function load(url: string, duration: number): Promise<number> {
  const { non2xx, errors, requests } = await autocannon({ url, connections: CONNECTIONS, duration });
  if (non2xx + errors > 0) throw new Error(`${non2xx} bad answers and ${errors} errors from ${url}`);
  return requests.average;
}

async function series(url: string): Promise<number[]> {
  await load(url, WARM_UP_S);
  const results: number[] = [];
  for (let run = 0; run < RUNS; run += 1) results.push(await load(url, RUN_S));
  return results;
}

async function compare(): Promise<void> {
  const place = await makePlace(sleepers(RUNNING));
  const host = await startBuilt(place);
  const url = `${host.base}/process/processes`;
  const bare = spawn(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url), url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const { processes } = await host.get<{ processes: unknown[] }>('/process/processes');
    if (processes.length <= RUNNING) throw new Error(`${processes.length} entries, of which ${RUNNING} run`);
    const [port] = (await once(bare.stdout, 'data')) as [Buffer];
    const baseline = await series(`http://127.0.0.1:${String(port).trim()}/`);
    printFigure({ name: 'process-list', unit: 'requests/s', runs: await series(url), baseline });
  } finally {
    bare.kill();
    await host.end('SIGTERM');
    await place.remove();
  }
}

const [, , source] = process.argv;
await (source === undefined ? compare() : serveBare(source));
