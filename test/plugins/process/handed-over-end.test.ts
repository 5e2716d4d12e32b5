// The output of a run that ends during a hand-over of its supervision: unread output is kept for the next host.
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Capture } from '../../../plugins/process/capture/capture.ts';
import { testDir } from '../../support/directory.ts';

const LINES = 60_000;
/** The host's own log is slow, so that the reading is not over when the hand-over ends. */
const SLOW_MS = 400;

t.test('no line is lost', async t => {
  const directory = testDir(t, {});
  const spool = path.join(directory, 'kid.spool');
  const logFile = path.join(directory, 'kid.log');
  const target = {
    processName: 'Kid',
    logFile,
    accessLogFile: null,
    logLevel: 'INFO',
    suppressed: false,
    owner: null,
  } as const;
  const open = (slowMs: number) => {
    const capture = new Capture({
      directory,
      rotation: () => ({ maxBytes: 1_000_000_000, keep: 1 }),
      ownLevel: () => 'INFO',
      deliver: async () => void (await delay(slowMs)),
      log: { warn: () => undefined, error: () => undefined },
      onFault: () => undefined,
    });
    t.teardown(() => capture.close());
    return capture;
  };
  const first = open(SLOW_MS);
  const session = await first.open(target, spool);
  const text = 'a line that is long enough to make a few pieces of so many of them';
  await appendFile(spool, Array.from({ length: LINES }, (_, number) => `${number} ${text}\n`).join(''));
  await Promise.all([session.finish(), first.close()]);

  const next = await open(0).open(target, spool);
  await next.finish();
  const numbers = [...(await readFile(logFile, 'utf8')).matchAll(/(\d+) a line/g)].map(([, number]) => Number(number));
  t.equal(numbers.length, LINES);
  t.ok(numbers.every((number, index) => number === index));
});
