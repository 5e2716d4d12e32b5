// Fuzzes a host for as long as it is told, with a new seed each round: `npm run fuzz -- MINUTES [SEED]`.
import { startHost } from '../support/host.ts';
import { fuzzFormats } from './formats.ts';
import { fuzzBodies, fuzzFrames, fuzzLines, type Outcome } from './fuzz.ts';
import { heapBytes } from './heap.ts';
import { fuzzState } from './state.ts';

const MS_PER_MINUTE = 60_000;
const ROUND = 40;
const STALL_LIMIT_MS = 200;
const BYTES_PER_MB = 1e6;
/** Code is compiled in the first rounds, and what is kept for good is filled. */
const WARM_ROUNDS = 4;
/** On the average of the later rounds. What is kept of each body, frame or text would be more. */
const GROWTH_LIMIT_MB = 0.25;

const [minutes = '5', firstSeed = String(Date.now())] = process.argv.slice(2);
const endMs = performance.now() + Number(minutes) * MS_PER_MINUTE;
const found = new Set<string>();
/** How much more is held after a round's texts, bodies and frames than before them. */
const grown: number[] = [];
/** Nobody logs in to this one, so that it goes on to answer, and what it holds can be compared from round to round. */
const steady = await startHost({ plugins: ['config', 'config-files', 'process', 'logs', 'docs', 'health'] });
for (let seed = Number(firstSeed); performance.now() < endMs; seed += 1) {
  const tell = (what: string, { faults, stall: { busyMs, blockedMs } }: Outcome): void => {
    for (const fault of faults) found.add(fault);
    if (busyMs > STALL_LIMIT_MS) found.add(`seed ${seed}: ${what} held the loop for ${busyMs} ms`);
    console.log(`seed ${seed}: ${what}: busy for ${busyMs} ms at most, blocked for ${blockedMs} ms`);
  };
  for (const fault of await fuzzState(seed, ROUND / 10, STALL_LIMIT_MS)) found.add(fault);
  const app = await startHost({
    plugins: 'offline',
    config: { sleeper: { enabled: false, process_name: 'Sleeper', command: ['sleep', '600'] } },
  });
  try {
    tell('frames', await fuzzFrames(app, seed, ROUND));
    tell('bodies', await fuzzBodies(app, seed, ROUND));
  } finally {
    await app.stop();
  }
  const beforeMb = heapBytes() / BYTES_PER_MB;
  tell('frames', await fuzzFrames(steady, seed, ROUND));
  tell('bodies', await fuzzBodies(steady, seed, ROUND));
  for (const fault of await fuzzFormats(seed, 2 * ROUND, STALL_LIMIT_MS)) found.add(fault);
  for (const fault of fuzzLines(seed, 2 * ROUND, STALL_LIMIT_MS)) found.add(fault);
  grown.push(heapBytes() / BYTES_PER_MB - beforeMb);
  console.log(`seed ${seed}: ${grown.at(-1)?.toFixed(2)} MB are held more, ${found.size} faults`);
}
await steady.stop();
const later = grown.slice(WARM_ROUNDS);
const grownMb = later.reduce((sum, mb) => sum + mb, 0) / Math.max(1, later.length);
if (grownMb > GROWTH_LIMIT_MB) found.add(`each round holds ${grownMb.toFixed(2)} MB more: ${grown.join(', ')}`);
for (const fault of found) console.log(fault);
process.exitCode = found.size === 0 ? 0 : 1;
