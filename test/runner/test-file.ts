// Runs one test file with a temporary directory of its own, counts its TAP, and reports what it leaves behind.
import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Parser, type Result } from 'tap-parser';
import { stringify } from 'yaml';
import { clearAway } from './left-behind.ts';
import type { TestProcess } from './test-process.ts';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
/** A variable in the environment of everything that a test file starts. */
const MARK = 'STACKWARDEN_TEST_FILE';
/** The directory of compiled files of the loader, which all test files share. */
const LOADER_CACHE = `tsx-${process.getuid?.() ?? 0}`;
const FILE_LIMIT_MS = 600_000;

export interface Outcome {
  readonly file: string;
  readonly seconds: number;
  /** Processor time, including programs that the file ran. */
  readonly cpuSeconds: number;
  readonly passed: number;
  readonly skipped: number;
  /** One text for each failure, with its place and the values; empty when the file passes. */
  readonly failures: readonly string[];
}

export interface Place {
  /** The temporary directory of the whole run. */
  readonly directory: string;
  /** The number of the lane, which runs no other file at the same time. */
  readonly lane: number;
  /** Whether the process ends with this file. */
  readonly isAlone: boolean;
}

/** Rejects for nothing that the file does. `signal` kills the file's process. */
export async function runTestFile(
  file: string,
  place: Place,
  testProcess: TestProcess,
  signal: AbortSignal,
): Promise<Outcome> {
  const startedMs = performance.now();
  // The name is short because paths of sockets may not be long.
  const directory = await mkdtemp(path.join(place.directory, `${place.lane}-`));
  // Anyone may write there, as in the system's temporary directory, because services run as other users.
  await chmod(directory, 0o1777);
  await symlink(path.join(tmpdir(), LOADER_CACHE), path.join(directory, LOADER_CACHE));
  const mark = `${place.directory}/${file.replace(/^test\//, '').replaceAll(/[^a-z0-9]+/gi, '-')}`;
  const outputFile = `${directory}.tap`;
  const env = { [MARK]: mark, TMPDIR: directory };
  const { exit, open, errors, cpuSeconds } = await testProcess.run(
    { file, outputFile, env, limitMs: FILE_LIMIT_MS },
    signal,
  );
  const { failures, passed, skipped } = countTap(await readFile(outputFile, 'utf8').catch(() => ''));
  if (exit !== null) failures.push(`its process ended with ${exit} after ${passed} assertions`);
  else if (failures.length + passed + skipped === 0) failures.push('it asserts nothing');
  if (failures.length > 0 && errors !== '') failures.push(`on standard error:\n${errors}`);
  if (place.isAlone) await testProcess.end();
  if (open.length > 0) failures.push(`left open: ${open.join(', ')}`);
  for (const left of await clearAway({
    mark: `${MARK}=${mark}`,
    directory,
    foreign: [LOADER_CACHE],
    fixtures: { directory: path.join(rootDir, '.tap', 'fixtures'), prefix: `${file.replaceAll('/', '-')}-` },
  }))
    failures.push(`left behind: ${left}`);
  // The next file must not run in a process in which something went wrong.
  if (failures.length > 0) await testProcess.end();
  await rm(outputFile, { force: true });
  return { file, seconds: (performance.now() - startedMs) / 1_000, cpuSeconds, passed, skipped, failures };
}

function countTap(text: string) {
  const failures: string[] = [];
  let passed = 0;
  let skipped = 0;
  const follow = (parser: Parser, above: readonly string[]): void => {
    // The assertion after a subtest only repeats its result. It counts when the subtest asserts nothing itself.
    let subtest: Parser | undefined;
    parser.on('child', (child: Parser) => {
      subtest = child;
      follow(child, [...above, child.name]);
    });
    parser.on('assert', ({ ok, skip, todo, name, diag }: Result) => {
      const isSum = subtest !== undefined && subtest.count > 0;
      subtest = undefined;
      if (skip || todo) skipped += 1;
      else if (!ok && !(isSum && failures.length > 0))
        failures.push(`${[...above, name].join(' > ')}\n${diag === null ? '' : stringify(diag)}`.trimEnd());
      else if (ok && !isSum) passed += 1;
    });
  };
  const parser = new Parser();
  follow(parser, []);
  parser.end(text);
  return { failures, passed, skipped };
}
