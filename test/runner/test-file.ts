// One test file with a temporary directory of its own: its TAP is counted, what it leaves is told.
import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Parser, type Result } from 'tap-parser';
import { stringify } from 'yaml';
import { clearAway } from './left-behind.ts';
import type { TestProcess } from './test-process.ts';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
/** In the environment of everything that a test file starts. */
const MARK = 'STACKWARDEN_TEST_FILE';
/** The loader keeps what it compiled here; all files share it. */
const LOADER_CACHE = `tsx-${process.getuid?.() ?? 0}`;
const FILE_LIMIT_MS = 600_000;

export interface Outcome {
  readonly file: string;
  readonly seconds: number;
  /** Processor time, of its programs too. */
  readonly cpuSeconds: number;
  readonly passed: number;
  readonly skipped: number;
  /** Each with its place and what was found; empty when the file is fine. */
  readonly failures: readonly string[];
}

export interface Place {
  /** Of the whole run. */
  readonly directory: string;
  /** A number that no other file has at the same time. */
  readonly lane: number;
  /** Whether its process ends with it. */
  readonly isAlone: boolean;
}

/** Never rejects for what the file does. `signal` ends the file with its process. */
export async function runTestFile(
  file: string,
  place: Place,
  testProcess: TestProcess,
  signal: AbortSignal,
): Promise<Outcome> {
  const startedMs = performance.now();
  // Short, because paths of sockets below it may not be long.
  const directory = await mkdtemp(path.join(place.directory, `${place.lane}-`));
  // As the system's own: services run as other users.
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
  // What went wrong must not become the next file's.
  if (failures.length > 0) await testProcess.end();
  await rm(outputFile, { force: true });
  return { file, seconds: (performance.now() - startedMs) / 1_000, cpuSeconds, passed, skipped, failures };
}

function countTap(text: string) {
  const failures: string[] = [];
  let passed = 0;
  let skipped = 0;
  const follow = (parser: Parser, above: readonly string[]): void => {
    // A subtest is followed by one assertion that sums it up, and is all there is of one without assertions of its own.
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
