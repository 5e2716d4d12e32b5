// Captured output is read because the file system tells of it, not because a clock has come round.
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { recordsOf } from '../../../core/kit/log-line.ts';
import { Capture } from '../../../plugins/process/capture/capture.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

t.test('lines arrive while no clock ticks, an unfinished one when it is finished', async t => {
  const ticking = globalThis.setInterval;
  globalThis.setInterval = (() => undefined) as unknown as typeof setInterval;
  t.teardown(() => {
    globalThis.setInterval = ticking;
  });
  const directory = testDir(t, {});
  const told: string[] = [];
  const capture = new Capture({
    directory,
    rotation: () => ({ maxBytes: 1e9, keep: 1 }),
    ownLevel: () => 'INFO',
    deliver: async lines => void told.push(...recordsOf(lines).map(({ text }) => text)),
    log: { warn: text => t.fail(text), error: text => t.fail(text) },
    onFull: () => t.fail('full'),
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
