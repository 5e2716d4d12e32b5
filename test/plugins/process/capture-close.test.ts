// A hand-over of output capture answers all pending calls, and reports nothing about the next supervision.
import { existsSync, readFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { CaptureThread } from '../../../plugins/process/capture/capture-thread.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

const HANDED_OVER = { message: /handed over/ };
const target = {
  processName: 'Job',
  logFile: null,
  accessLogFile: null,
  logLevel: 'INFO',
  suppressed: false,
  owner: null,
} as const;

function capturing(t: Test, deliver: () => Promise<void> = async () => undefined) {
  const directory = testDir(t, {});
  const told: string[] = [];
  const tell = (text: string): void => void told.push(text);
  const thread = new CaptureThread({
    directory,
    settings: () => ({ rotation: { maxBytes: 1e9, keep: 1 }, ownLevel: 'INFO' }),
    deliver,
    log: { debug: tell, info: tell, warn: tell, error: tell },
  });
  t.teardown(() => thread.close());
  return { thread, told, spool: path.join(directory, 'job.spool') };
}

/** The own log takes no line before `take` is called. */
function capturingSlowly(t: Test) {
  let take = (): void => undefined;
  let deliveries = 0;
  const taken = new Promise<void>(resolve => {
    take = resolve;
  });
  const capture = capturing(t, () => {
    deliveries += 1;
    return taken;
  });
  return { ...capture, take, isTold: () => deliveries > 0 };
}

t.test('a hand-over leaves the spool to the next supervision', { timeout: 20_000 }, async t => {
  const { thread, told, spool } = capturing(t);
  const output = await thread.open(target, spool);
  await thread.close();
  await output.finish();
  t.equal(output.bestErrorLine, null);
  await output.retarget({ ...target, suppressed: true });
  t.ok(existsSync(spool), 'the next supervision reads it');
  await t.rejects(thread.open(target, spool), HANDED_OVER);
  await t.rejects(thread.resume(target, spool), HANDED_OVER);
  t.same(told, []);
});

t.test('a spool that was opened during the hand-over is refused', { timeout: 20_000 }, async t => {
  const { thread, told, spool } = capturing(t);
  const resumed = thread.resume(target, spool);
  // The answer of the thread is not received meanwhile, because the event loop stands still.
  const position = `${spool}.position`;
  while (!existsSync(position) || readFileSync(position).length === 0);
  const closed = thread.close();
  await t.rejects(resumed, HANDED_OVER);
  await closed;
  t.same(told, []);
});

t.test('a hand-over without a capture thread starts none', async t => {
  const { thread, spool } = capturing(t);
  await thread.close();
  await t.rejects(thread.open(target, spool), HANDED_OVER);
});

t.test('calls during the hand-over are answered', { timeout: 20_000 }, async t => {
  const { thread, told, spool, take, isTold } = capturingSlowly(t);
  const output = await thread.open(target, spool);
  await appendFile(spool, 'a line\n');
  await until(isTold, { what: 'the line' });
  const finished = output.finish();
  const closed = thread.close();
  const late = thread.open(target, `${spool}2`).catch(() => undefined);
  take();
  await Promise.all([closed, finished, late]);
  t.same(told, []);
});

t.test('leftovers that are removed during a hand-over are none of the spools', { timeout: 20_000 }, async t => {
  const { thread, told, spool, take, isTold } = capturingSlowly(t);
  // The session of the quiet one is handed over at once; that of the other waits for its line.
  const quiet = `${spool.slice(0, -'.spool'.length)}-quiet.spool`;
  await thread.open(target, quiet);
  await thread.open(target, spool);
  await appendFile(spool, 'a line\n');
  await until(isTold, { what: 'the line' });
  const removed = [thread.removeOthers()];
  const closed = thread.close();
  for (let turn = 0; turn < 20; turn += 1) {
    removed.push(thread.removeOthers());
    await setImmediate();
  }
  take();
  await Promise.all([closed, ...removed]);
  t.ok(existsSync(quiet), 'its service goes on writing to it');
  t.ok(existsSync(spool));
  t.same(told, []);
});
