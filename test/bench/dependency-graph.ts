// The dependency graph: building it and asking it, from 50 to 2,000 services, and how long the event loop is held.
import { performance } from 'node:perf_hooks';
import { createHost } from '../../core/host.ts';
import { makePlace } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SIZES = [50, 500, 2_000];
const RELATIONS_EACH = 3;
const RUNS = 5;
const TICK_MS = 5;

/** Each waits for three others, by name. */
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

/** Longest pause of the event loop while `work` runs. */
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

for (const size of SIZES) {
  const place = await makePlace(services(size));
  const host = await createHost({ configDir: place.configDir, listen: { port: 0 }, ownsProcess: false });
  const base = `http://127.0.0.1:${host.address?.port}`;
  const ask = async () => (await fetch(`${base}/process/dependency-graph?process_name=Service+1`)).text();
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
    // Reading and writing the answer once is what cannot be saved.
    const startedMs = performance.now();
    JSON.stringify(JSON.parse(text));
    parsing.push(performance.now() - startedMs);
  }
  printFigure({ name: `graph-build-${size}`, unit: 'ms', runs: builds, baseline: parsing });
  printFigure({ name: `graph-answer-${size}`, unit: 'ms', runs: answers, baseline: parsing });
  printFigure({ name: `graph-build-pause-${size}`, unit: 'ms', runs: pauses, baseline: parsing });
  await host.stop();
  await place.remove();
}
process.exit(0);
