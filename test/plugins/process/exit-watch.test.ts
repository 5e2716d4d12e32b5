// The watch for the end of processes that are no children of the host.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { ExitWatch } from '../../../plugins/process/supervise/exit-watch.ts';
import { identify } from '../../../plugins/process/supervise/proc-stat.ts';
import { until } from '../../support/until.ts';

t.test('the end of a process is noticed', async t => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const identity = identify(child.pid ?? 0);
  t.not(identity, null);
  if (identity === null) return;
  const watch = new ExitWatch(10);
  t.teardown(() => watch.close());
  let isGone = false;
  void watch.gone(identity).then(() => {
    isGone = true;
  });
  child.kill();
  t.ok(await until(() => isGone, { what: 'its end to be noticed' }));
});

t.test('a watch that was closed begins nothing more', async t => {
  const { setInterval: ticking } = globalThis;
  t.teardown(() => {
    globalThis.setInterval = ticking;
  });
  let begun = 0;
  globalThis.setInterval = ((...args: Parameters<typeof ticking>) => {
    begun += 1;
    return ticking(...args);
  }) as typeof ticking;
  const watch = new ExitWatch(10);
  watch.close();
  void watch.gone({ pid: 1, startTime: 1, bootId: 'x' });
  t.equal(begun, 0);
});
