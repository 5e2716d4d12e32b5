// Knows the timers of this process that were begun during a test and are neither due nor cleared.
import { createHook } from 'node:async_hooks';
import type { Test } from 'tap';

/** The returned function counts those of `ms` milliseconds. */
export function followTimers(t: Test): (ms: number) => number {
  const living = new Map<number, object>();
  const hook = createHook({
    init(id, type, _trigger, timer) {
      if (type === 'Timeout') living.set(id, timer);
    },
    destroy(id) {
      living.delete(id);
    },
  }).enable();
  t.teardown(() => hook.disable());
  // Node has no public member for the time of a timer.
  return ms => [...living.values()].filter(timer => Number(Reflect.get(timer, '_idleTimeout')) === ms).length;
}
