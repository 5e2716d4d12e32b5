// The time to build the dependency graph and to answer with it, for the whole catalogue and for 50 to 2,000 other
// services, and the longest pause of the event loop.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createHost } from '../../core/host/host.ts';
import { makePlace } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SIZES = [50, 500, 2_000];
const RELATIONS_EACH = 3;
const RUNS = 5;
const TICK_MS = 5;

/** Services that each wait for three others, by name. */
function services(count: number): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `service_${index}`,
      {
        enabled: false,
        process_name: `Service ${index}`,
        command: ['sleep', '1'],
        port: 20_000 + index,
        wait_for_url: Array.from({ length: RELATIONS_EACH }, (_none, nth) => ({
          url: 'http://remote.example/',
          process_name: `Service ${(index * 7 + nth * 13 + 1) % count}`,
        })),
      },
    ]),
  );
}

/** Every service of the catalogue, with three instances where instances are possible. Nothing is started. */
async function catalogue(): Promise<Record<string, unknown>> {
  const directory = fileURLToPath(new URL('../../templates/services', import.meta.url));
  const files = await readdir(directory);
  const templates = await Promise.all(
    files.map(async file => JSON.parse(await readFile(path.join(directory, file), 'utf8'))),
  );
  return Object.fromEntries(
    templates
      .filter(({ instance }) => instance !== undefined)
      .map(({ key, displayName }) => {
        const instances = ['One', 'Two', 'Three'].map(name => [name, { process_name: `${displayName} ${name}` }]);
        return [key, { instances: Object.fromEntries(instances) }];
      }),
  );
}

/** The longest pause of the event loop while `work` runs. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - TICK_MS);
    last = now;
  }, TICK_MS);
  await work();
  await new Promise(resolve => setTimeout(resolve, 2 * TICK_MS));
  clearInterval(timer);
  return longest;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

const configurations: (readonly [string, Record<string, unknown>, string])[] = [
  ['catalogue', await catalogue(), 'Plex Media Server'],
  ...SIZES.map(size => [String(size), services(size), 'Service 1'] as const),
];
for (const [name, config, processName] of configurations) {
  const place = await makePlace(config);
  const host = await createHost({ configDir: place.configDir, listen: { port: 0 }, ownsProcess: false });
  const base = `http://127.0.0.1:${host.address?.port}`;
  const query = new URLSearchParams({ process_name: processName });
  const ask = async () => (await fetch(`${base}/process/dependency-graph?${query}`)).text();
  const change = () =>
    fetch(`${base}/config`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ updates: { tz: String(Math.random()) }, persist: false }),
    });
  const text = await ask();
  const builds: number[] = [];
  const answers: number[] = [];
  const pauses: number[] = [];
  const parsing: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    await change();
    builds.push(await timed(ask));
    answers.push(await timed(ask));
    await change();
    pauses.push(await longestPause(ask));
    // The baseline parses and serializes the answer once, which cannot be avoided.
    const startedMs = performance.now();
    JSON.stringify(JSON.parse(text));
    parsing.push(performance.now() - startedMs);
  }
  printFigure({ name: `graph-build-${name}`, unit: 'ms', runs: builds, baseline: parsing });
  printFigure({ name: `graph-answer-${name}`, unit: 'ms', runs: answers, baseline: parsing });
  printFigure({ name: `graph-build-pause-${name}`, unit: 'ms', runs: pauses, baseline: parsing });
  await host.stop();
  await place.remove();
}
process.exit(0);
