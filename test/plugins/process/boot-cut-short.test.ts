// A start of the services that an unforeseen failure cuts short is told like one that is degraded. The parts around it
// are stand-ins, because no file or plugin makes the real ones fail in that way.
import t from 'tap';
import { Boot, type BootOptions } from '../../../plugins/process/boot/boot.ts';

/** A boot whose adoption fails, and what it emits and logs. */
function failingBoot() {
  const emitted: unknown[] = [];
  const logged: unknown[] = [];
  const host = {
    tap: () => undefined,
    emit: (...event: unknown[]) => void emitted.push(event),
    log: { error: (...line: unknown[]) => void logged.push(line) },
  };
  const failure = new Error('out of order');
  const parts = {
    host,
    processes: { renew: () => undefined },
    adoption: { run: () => Promise.reject(failure) },
    supervision: { capture: { isClosed: false } },
    onPhase: () => undefined,
  };
  return { boot: new Boot(parts as unknown as BootOptions), failure, emitted, logged };
}

t.test('one event tells why', async t => {
  const { boot, failure, emitted, logged } = failingBoot();
  await boot.run();
  const failures = { startup: 'out of order' };
  t.match(boot.startup.report(), { phase: 'degraded', failures });
  t.same(emitted, [['dumb.startup.degraded', { failures }, { once: 'startup' }]]);
  t.same(logged, [['the start of the services was cut short', failure]]);
});

t.test('not when the host is ended meanwhile', async t => {
  const { boot, emitted } = failingBoot();
  boot.end();
  await boot.run();
  t.same(emitted, []);
});
