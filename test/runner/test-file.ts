// One test file in a process of its own, with a temporary directory of its own: its TAP is counted, what it leaves is told.
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, open, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Parser, type Result } from 'tap-parser';
import { stringify } from 'yaml';
import { clearAway } from './left-behind.ts';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const preload = fileURLToPath(new URL('./preload.mjs', import.meta.url));
/** In the environment of everything that a test file starts. */
const MARK = 'STACKWARDEN_TEST_FILE';
/** The loader keeps what it compiled here; all files share it. */
const LOADER_CACHE = `tsx-${process.getuid?.() ?? 0}`;
const FILE_LIMIT_MS = 600_000;
/** tap ends a file that is late by itself, with the names of what it waits for; this is for one that cannot. */
const ENDING_MS = 10_000;
const LAST_WORDS_MS = 200;

export interface Outcome {
  readonly file: string;
  readonly seconds: number;
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
  /** Of the product; hosts that are processes of their own run from it. */
  readonly build: string;
}

/** Never rejects for what the file does. `signal` ends the file. */
export async function runTestFile(file: string, place: Place, signal: AbortSignal): Promise<Outcome> {
  const startedMs = performance.now();
  const slug = file.replace(/^test\//, '').replaceAll(/[^a-z0-9]+/gi, '-');
  // Short, because paths of sockets below it may not be long.
  const directory = await mkdtemp(path.join(place.directory, `${place.lane}-`));
  // As the system's own: services run as other users.
  await chmod(directory, 0o1777);
  await symlink(path.join(tmpdir(), LOADER_CACHE), path.join(directory, LOADER_CACHE));
  const mark = `${MARK}=${place.directory}/${slug}`;
  const { results, code, errors } = await runProcess(file, place, { directory, mark }, signal);
  const failures = [...results.failures];
  if (failures.length === 0 && (code !== 0 || results.passed + results.skipped === 0))
    failures.push(`it ended with ${code} after ${results.passed} assertions`);
  if (failures.length > 0 && errors !== '') failures.push(`on standard error:\n${errors}`);
  for (const left of await clearAway({
    mark,
    directory,
    foreign: [LOADER_CACHE],
    fixtures: { directory: path.join(rootDir, '.tap', 'fixtures'), prefix: `${file.replaceAll('/', '-')}-` },
  }))
    failures.push(`left behind: ${left}`);
  const seconds = (performance.now() - startedMs) / 1_000;
  return { file, seconds, passed: results.passed, skipped: results.skipped, failures };
}

async function runProcess(
  file: string,
  { lane, build }: Place,
  { directory, mark }: { directory: string; mark: string },
  signal: AbortSignal,
) {
  // A file, because a process that is left behind would hold a pipe open.
  const outputFile = `${directory}.tap`;
  const output = await open(outputFile, 'w');
  const child = spawn(process.execPath, ['--enable-source-maps', `--import=${preload}`, file], {
    cwd: rootDir,
    env: {
      ...process.env,
      [MARK]: mark.slice(MARK.length + 1),
      STACKWARDEN_TEST_BUILD: build,
      TMPDIR: directory,
      TAP: '1',
      TAP_JOB_ID: String(lane),
      TAP_TIMEOUT: String(FILE_LIMIT_MS / 1_000),
    },
    stdio: ['ignore', output.fd, 'pipe'],
  });
  const stop = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  const late = setTimeout(stop, FILE_LIMIT_MS + ENDING_MS);
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
    process.stderr.write(text);
  });
  const code = await new Promise<number | string | null>(resolve => {
    child.once('exit', (exitCode, exitSignal) => resolve(exitCode ?? exitSignal));
  });
  clearTimeout(late);
  // What is left behind may hold this pipe open, too.
  await Promise.race([new Promise(resolve => child.stderr?.once('close', resolve)), delay(LAST_WORDS_MS)]);
  signal.removeEventListener('abort', stop);
  child.stderr?.destroy();
  await output.close();
  const results = countTap(await readFile(outputFile, 'utf8'));
  await rm(outputFile);
  return { results, code, errors };
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
