// Captured output is read when the file system reports it, and not when a timer fires.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import t, { type Test } from 'tap';
import { recordsOf } from '../../../core/kit/log-line.ts';
import { Capture } from '../../../plugins/process/capture/capture.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

/** Two processes whose output is captured, and the captured lines. */
async function capturing(t: Test) {
  const directory = testDir(t, {});
  const told: string[] = [];
  const capture = new Capture({
    directory,
    rotation: () => ({ maxBytes: 1e9, keep: 1 }),
    ownLevel: () => 'INFO',
    deliver: async lines => void told.push(...recordsOf(lines).map(({ text }) => text)),
    log: { warn: text => t.fail(text), error: text => t.fail(text) },
    onFault: () => t.fail('full'),
  });
  t.teardown(() => capture.close());
  const files = ['one', 'two'].map(name => path.join(directory, `${name}.spool`));
  for (const [index, file] of files.entries()) {
    const target = {
      processName: `Process ${index}`,
      logFile: null,
      accessLogFile: null,
      logLevel: 'INFO',
      suppressed: false,
      owner: null,
    } as const;
    await capture.open(target, file);
  }
  const [one = '', two = ''] = files;
  return { told, one, two };
}

t.test('lines arrive while no timer fires, an unfinished one once it is finished', async t => {
  const ticking = globalThis.setInterval;
  globalThis.setInterval = (() => undefined) as unknown as typeof setInterval;
  t.teardown(() => {
    globalThis.setInterval = ticking;
  });
  const { told, one, two } = await capturing(t);
  for (const count of [1, 2, 3]) {
    await appendFile(one, `line ${count}\n`);
    await until(() => told.includes(`line ${count}`), { what: `line ${count}` });
  }
  await appendFile(two, 'half ');
  await appendFile(one, 'line 4\n');
  await until(() => told.includes('line 4'), { what: 'line 4' });
  await appendFile(two, 'done\n');
  await until(() => told.includes('half done'), { what: 'the finished line' });
  t.same(told, ['line 1', 'line 2', 'line 3', 'line 4', 'half done'], 'each once');
});

t.test('many single lines are read in batches, and every line arrives', async t => {
  const WRITES = 20_000;
  const { watch } = fs;
  const replace = (functions: object): void => {
    Object.assign(fs, functions);
    syncBuiltinESMExports();
  };
  t.teardown(() => replace({ watch }));
  let timesTold = 0;
  replace({
    watch: (directory: string, listener: (event: string, name: string) => void) =>
      watch(directory, (event, name) => {
        timesTold += 1;
        listener(event, String(name));
      }),
  });
  const { told, one, two } = await capturing(t);
  const beganMs = performance.now();
  const script = `i=0; while [ $i -lt ${WRITES} ]; do i=$((i+1)); echo line $i; done >> "$0"`;
  const child = spawn('sh', ['-c', script, one], { stdio: 'ignore' });
  t.teardown(() => child.kill());
  await until(() => told.includes('line 100'), { what: 'the first lines' });
  await appendFile(two, 'quiet\n');
  await until(() => told.includes('quiet'), { what: 'the line of the other' });
  await until(() => told.includes(`line ${WRITES}`), { what: 'the last line' });
  const tookS = (performance.now() - beganMs) / 1_000;
  t.ok(timesTold < 100 + 250 * tookS, `${timesTold} times in ${tookS} s`);
  t.ok(timesTold < WRITES / 4, `${timesTold} times for ${WRITES} writes`);
  const lines = told.filter(line => line !== 'quiet');
  t.same(
    lines,
    Array.from({ length: WRITES }, (_, index) => `line ${index + 1}`),
    'each once, in order',
  );
});

t.test('output without a file event is polled for, rarely while there is none', async t => {
  const { setInterval: ticking } = globalThis;
  const { watch, fstatSync } = fs;
  let look = (): void => undefined;
  globalThis.setInterval = ((callback: () => void) => {
    look = callback;
  }) as unknown as typeof setInterval;
  let sizesAsked = 0;
  const replace = (functions: object): void => {
    Object.assign(fs, functions);
    syncBuiltinESMExports();
  };
  t.teardown(() => {
    globalThis.setInterval = ticking;
    replace({ watch, fstatSync });
  });
  replace({
    watch: () => ({ on: () => undefined, close: () => undefined }),
    fstatSync: (...args: Parameters<typeof fstatSync>) => {
      sizesAsked += 1;
      return fstatSync(...args);
    },
  });
  const { told, one } = await capturing(t);
  for (const count of [1, 2, 3]) {
    await appendFile(one, `line ${count}\n`);
    await until(
      () => {
        look();
        return told.includes(`line ${count}`);
      },
      { what: `line ${count}` },
    );
  }
  // The reading of the last line may not have ended yet.
  await until(
    () => {
      sizesAsked = 0;
      for (let count = 0; count < 50; count += 1) look();
      return sizesAsked <= 20;
    },
    { what: 'at most 20 looks at two files' },
  );
  t.ok(sizesAsked > 0);
});
