// A process that runs the test files it is told of, one after the other: what they load and warm up is shared.
import { createWriteStream } from 'node:fs';
import { register } from 'node:module';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { Test, type TestOpts } from 'tap';
import { setRootTest } from './root-test.ts';

/** What the runner asks for. */
export interface FileOrder {
  /** Relative to the project. */
  readonly file: string;
  /** Where its TAP is written. */
  readonly outputFile: string;
  /** Of the environment, while the file runs. */
  readonly env: Readonly<Record<string, string>>;
  readonly limitMs: number;
}

/** What the runner is told when the file has ended. */
export interface FileEnding {
  /** What keeps the process alive that the file had not found there, in Node's words. */
  readonly open: readonly string[];
  readonly residentBytes: number;
}

/** How long what the file closed may take to be closed. */
const CLOSING_MS = 10_000;
const LOOK_EVERY_MS = 20;

const { env: ownEnvironment } = process;

register('./tap-hooks.mjs', import.meta.url);
// Hosts that run from the sources bundle pages with it, and its child lives as long as this process: it is no file's
// own.
await transform('');

/** A signal to 0 goes to the whole process group, and so to the runner. */
const { kill } = process;
process.kill = (pid, signal) => {
  if (pid === 0) throw new Error('a test sends a signal to its own process group');
  return kill.call(process, pid, signal);
};

async function runFile({ file, outputFile, env, limitMs }: FileOrder): Promise<FileEnding> {
  Object.assign(process.env, env);
  // tap names fixtures and snapshots by it.
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
  // tap goes on to count the time of a test that has ended, holds all of it meanwhile, and complains at the end.
  test.setTimeout(0);
  // tap lets go of it, and the process would end between two files.
  process.channel?.ref();
  const replaced = process.env === ownEnvironment ? [] : ['another object as process.env'];
  return { open: [...(await remaining(before)), ...replaced], residentBytes: process.memoryUsage.rss() };
}

/** What is still open after the time that closing may need. */
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
