// The time to read the configuration, which every screen asks for, with instances of all services, and to change one
// value in a large file.

import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { modify } from 'jsonc-parser';
import { type BuiltHost, makePlace, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const RUNS = 5;
const REQUESTS = 200;
const UPDATES = 20;
const LARGE_BYTES = 1_000_000;
const templates = fileURLToPath(new URL('../../templates/services/', import.meta.url));

/** Three instances of every service that can have instances. */
async function instances(): Promise<Record<string, unknown>> {
  const read = async (name: string) => JSON.parse(await readFile(templates + name, 'utf8'));
  const all = await Promise.all((await readdir(templates)).map(read));
  return Object.fromEntries(
    all.flatMap(({ key, instance }) =>
      instance === undefined ? [] : [[key, { instances: { One: {}, Two: {}, Three: {} } }]],
    ),
  );
}

async function p95(base: string): Promise<number> {
  const found: number[] = [];
  for (let count = 0; count < REQUESTS; count += 1) {
    const startedMs = performance.now();
    await (await fetch(`${base}/config`)).arrayBuffer();
    found.push(performance.now() - startedMs);
  }
  return found.sort((a, b) => a - b)[Math.floor(REQUESTS * 0.95)] ?? Number.NaN;
}

/** A bare server that sends the same bytes. */
async function bare(text: string) {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(text),
  );
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

async function reading(): Promise<void> {
  const place = await makePlace(await instances());
  const host = await startBuilt(place);
  const server = await bare(await (await fetch(`${host.base}/config`)).text());
  try {
    const runs: number[] = [];
    const baseline: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      runs.push(await p95(host.base));
      baseline.push(await p95(server.base));
    }
    printFigure({ name: 'config-read-p95', unit: 'ms', runs, baseline });
  } finally {
    server.close();
    await host.end('SIGTERM');
    await place.remove();
  }
}

async function oneUpdate(host: BuiltHost, depth: number): Promise<number> {
  const startedMs = performance.now();
  await host.post('/config', { updates: { large: { depth } } });
  return performance.now() - startedMs;
}

/** The baseline only finds the place of the value in the same text, which every editor must do. */
async function updating(): Promise<void> {
  const row = { name: 'a row of a large block', values: [1, 2, 3], note: 'x'.repeat(60) };
  const rows = Array.from({ length: LARGE_BYTES / 150 }, () => row);
  const large = { process_name: 'Large', command: ['sleep', '1'], enabled: false, depth: 0, rows };
  const place = await makePlace({ large });
  const host = await startBuilt(place);
  try {
    const text = await readFile(`${place.configDir}/stackwarden.json`, 'utf8');
    const runs: number[] = [];
    const baseline: number[] = [];
    for (let count = 1; count <= UPDATES; count += 1) {
      runs.push(await oneUpdate(host, count));
      const startedMs = performance.now();
      modify(text, ['large', 'depth'], count, {});
      baseline.push(performance.now() - startedMs);
    }
    printFigure({ name: 'config-update-1-mb', unit: 'ms', runs, baseline });
  } finally {
    await host.end('SIGTERM');
    await place.remove();
  }
}

await reading();
await updating();
