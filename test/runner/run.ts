// Runs the test files, several at a time, and says after each what became of it: `npm test`. The last line counts the
// assertions. Usage: run.ts [--jobs N] [--summary FILE] [PART OF A FILE'S NAME ...]
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { refusalOfFolder } from '../../core/host/plugin-trust.ts';
import { buildInto } from '../support/build.ts';
import { IdleCores } from './idle-cores.ts';
import { type Outcome, runTestFile } from './test-file.ts';
import { TestProcess } from './test-process.ts';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
/** How many lanes there are at most. Each lane runs one file at a time and has its own range of ports. */
const MAX_JOBS = 12;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string' }, summary: { type: 'string' } },
});
/** How many lanes always run. Without `--jobs`, further lanes run a file whenever a core is idle. */
const jobs = Math.min(MAX_JOBS, Number(values.jobs ?? Math.max(4, 2 * availableParallelism())));
const lanes = values.jobs === undefined ? MAX_JOBS : jobs;

/**
 * Files that take long for their size, since they start whole hosts or database servers, or repeat many rounds. They
 * run first, so that none of them is the last to end.
 */
const FIRST = /^test\/(?:trimmed|reliability|regexes|fuzz|plugins\/metrics-postgres)\/|^test\/attacks\/21-/;

/** Files that need a process of their own. */
const ALONE = new Set([
  // The file adds members to all objects, which a host in the same process would have made impossible before.
  'test/attacks/01-names-that-reach-prototypes.test.ts',
  // The file tests something that exists once in a process.
  'test/core/kit/file-looker.test.ts',
  // A thread in this file uses up its memory. With the large semi-spaces of shared processes, that would end the
  // process.
  'test/core/kit/text-thread.test.ts',
]);

/** The chosen files; those that probably take longest come first. */
async function testFiles(): Promise<string[]> {
  const names = await readdir(path.join(rootDir, 'test'), { recursive: true });
  const chosen = names
    .filter(name => name.endsWith('.test.ts'))
    .map(name => `test/${name}`)
    .filter(name => positionals.length === 0 || positionals.some(part => name.includes(part)));
  const sized = await Promise.all(
    chosen.map(async name => ({ name, size: (await stat(path.join(rootDir, name))).size })),
  );
  return sized
    .sort((a, b) => Number(FIRST.test(b.name)) - Number(FIRST.test(a.name)) || b.size - a.size)
    .map(({ name }) => name);
}

function tell({ file, seconds, cpuSeconds, passed, failures }: Outcome, done: number, all: number): void {
  const verdict = failures.length === 0 ? 'ok    ' : 'FAILED';
  const [time, cpu] = [seconds, cpuSeconds].map(value => `${value.toFixed(1).padStart(6)} s`);
  console.log(`${verdict} ${`${done}/${all}`.padStart(7)} ${time} ${cpu} CPU  ${file} (${passed})`);
  for (const failure of failures) console.log(failure.replaceAll(/^/gm, '      '));
}

async function runAll(directory: string, signal: AbortSignal): Promise<Outcome[]> {
  const files = await testFiles();
  console.log(`${files.length} test files, ${jobs}${lanes > jobs ? ' or more' : ''} at a time`);
  // tap puts fixtures below the checkout, so its folder must be one from which plugins are accepted.
  const refusal = await refusalOfFolder(path.join(rootDir, 'package.json'));
  if (refusal !== null) console.log(`tests that load plugins of their own will fail here: ${refusal}`);
  const builtIn = path.join(directory, 'build');
  await buildInto(builtIn);
  const waiting = [...files];
  const outcomes: Outcome[] = [];
  const idleCores = new IdleCores();
  const isOver = (): boolean => waiting.length === 0 || signal.aborted;
  const work = async (lane: number): Promise<void> => {
    const env = {
      STACKWARDEN_TEST_BUILD: builtIn,
      TAP: '1',
      TAP_TIMEOUT: '0',
      TAP_JOB_ID: String(lane),
      // Some releases of Node let npm enable a compile cache, which would appear in the temporary directory.
      NODE_DISABLE_COMPILE_CACHE: '1',
    };
    const shared = new TestProcess(env);
    while (!isOver()) {
      if (lane >= jobs) await idleCores.next(isOver);
      const file = signal.aborted ? undefined : waiting.shift();
      if (file === undefined) break;
      const isAlone = ALONE.has(file);
      const testProcess = isAlone ? new TestProcess(env, { isAlone }) : shared;
      const outcome = await runTestFile(file, { directory, lane, isAlone }, testProcess, signal);
      outcomes.push(outcome);
      tell(outcome, outcomes.length, files.length);
    }
    await shared.end();
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
  return outcomes;
}

async function main(): Promise<boolean> {
  const startedMs = performance.now();
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-tests-'));
  await chmod(directory, 0o755);
  const outcomes = await runAll(directory, stop.signal).finally(() => rm(directory, { recursive: true, force: true }));
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const failed = outcomes.reduce((sum, outcome) => sum + outcome.failures.length, 0);
  const skipped = outcomes.reduce((sum, outcome) => sum + outcome.skipped, 0);
  // Failures are repeated at the end, because they may stand hundreds of lines above, and some readers keep only the
  // end.
  for (const { file, failures } of outcomes)
    for (const failure of failures) console.log(`FAILED ${file}: ${failure.split('\n', 1)[0]}`);
  if (stop.signal.aborted) console.log('ended before its time');
  const cpuSeconds = outcomes.reduce((sum, outcome) => sum + outcome.cpuSeconds, 0);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  console.log(`${seconds} s with ${Math.round(cpuSeconds)} s of CPU, ${skipped} skipped`);
  console.log(`${passed} passed, ${failed} failed`);
  if (values.summary !== undefined) await writeFile(values.summary, `${passed} passed, ${failed} failed\n`);
  return failed === 0 && passed > 0 && !stop.signal.aborted;
}

process.exitCode = (await main()) ? 0 : 1;
