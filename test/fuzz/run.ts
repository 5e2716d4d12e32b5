// Fuzzes a host for as long as it is told, with a new seed each round: `npm run fuzz -- MINUTES`.
import { startHost } from '../support/host.ts';
import { fuzzFormats } from './formats.ts';
import { fuzzBodies, fuzzFrames, fuzzLines } from './fuzz.ts';
import { fuzzState } from './state.ts';

const MS_PER_MINUTE = 60_000;
const ROUND = 40;

const endMs = performance.now() + Number(process.argv[2] ?? 5) * MS_PER_MINUTE;
const found = new Set<string>();
for (let seed = Date.now(); performance.now() < endMs; seed += 1) {
  const app = await startHost({
    plugins: 'offline',
    config: { sleeper: { enabled: false, process_name: 'Sleeper', command: ['sleep', '600'] } },
  });
  try {
    const others = [
      await fuzzFrames(app, seed, ROUND),
      await fuzzFormats(seed, ROUND),
      fuzzLines(seed, ROUND),
      await fuzzState(seed, ROUND / 10),
    ];
    const { faults, longestStallMs, requests } = await fuzzBodies(app, seed, ROUND);
    for (const fault of [...faults, ...others.flat()]) found.add(fault);
    const heapMegabytes = Math.round(process.memoryUsage().heapUsed / 1e6);
    console.log(`seed ${seed}: ${requests} requests, stall ${Math.round(longestStallMs)} ms, heap ${heapMegabytes} MB`);
  } finally {
    await app.stop();
  }
}
for (const fault of found) console.log(fault);
process.exitCode = found.size === 0 ? 0 : 1;
