// A process that runs test files one after the other, so that modules are loaded and compiled only once.
import { createWriteStream } from 'node:fs';
import { register } from 'node:module';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { Test, type TestOpts } from 'tap';
import { setRootTest } from './root-test.ts';

/** The message by which the runner starts a file. */
export interface FileOrder {
  /** The path relative to the project. */
  readonly file: string;
  /** The file into which the TAP is written. */
  readonly outputFile: string;
  /** Environment variables for the file. */
  readonly env: Readonly<Record<string, string>>;
  readonly limitMs: number;
}

/** The message after the end of a file. */
export interface FileEnding {
  /** Resources that keep the process alive and did not exist before the file, named as by Node. */
  readonly open: readonly string[];
  readonly residentBytes: number;
}

/** How long closing may take after the end of a file. */
const CLOSING_MS = 10_000;
const LOOK_EVERY_MS = 20;

const { env: ownEnvironment } = process;

register('./tap-hooks.mjs', import.meta.url);
// Starts the child process of esbuild, which hosts from the sources use to bundle pages. It lives as long as this
// process, so that it belongs to no file.
await transform('');

/** A signal to pid 0 would also reach the runner, because it goes to the whole process group. */
const { kill } = process;
process.kill = (pid, signal) => {
  if (pid === 0) throw new Error('a test sends a signal to its own process group');
  return kill.call(process, pid, signal);
};

async function runFile({ file, outputFile, env, limitMs }: FileOrder): Promise<FileEnding> {
  Object.assign(process.env, env);
  // tap names fixtures and snapshots after this argument.
  process.argv[1] = path.resolve(file);
  const before = process.getActiveResourcesInfo();
  const output = createWriteStream(outputFile);
  const options: TestOpts = {
    name: 'TAP',
    timeout: limitMs,
    cb: async () => void (await import(pathToFileURL(file).href)),
  };
  const test = new Test(options);
  setRootTest(test);
  test.pipe(output);
  test.runMain(() => undefined);
  await finished(output);
  // tap would keep the timer of the ended test, hold the whole test in memory meanwhile, and report a timeout at last.
  test.setTimeout(0);
  // tap unreferences the channel, so the process would end between two files.
  process.channel?.ref();
  const replaced = process.env === ownEnvironment ? [] : ['another object as process.env'];
  return { open: [...(await remaining(before)), ...replaced], residentBytes: process.memoryUsage.rss() };
}

/** What is still open after the time that closing may take. */
async function remaining(before: readonly string[]): Promise<string[]> {
  const deadline = performance.now() + CLOSING_MS;
  for (;;) {
    const open = surplus(process.getActiveResourcesInfo(), before);
    if (open.length === 0 || performance.now() >= deadline) return open;
    await delay(LOOK_EVERY_MS);
  }
}

function surplus(now: readonly string[], before: readonly string[]): string[] {
  const known = [...before];
  return now.filter(name => {
    const place = known.indexOf(name);
    if (place !== -1) known.splice(place, 1);
    return place === -1;
  });
}

process.on('message', (order: FileOrder) => {
  runFile(order).then(
    ending => process.send?.(ending),
    error => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
