// The boot pauses between its looks also where settings would let it pause longer than a timer of Node can wait.
import { once } from 'node:events';
import t from 'tap';
import { Startup } from '../../../plugins/process/boot/startup.ts';

t.test('pauses of more than 25 days', async t => {
  const warnings: string[] = [];
  const take = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', take);
  t.teardown(() => process.off('warning', take));
  const startup = new Startup(() => undefined);
  startup.expect(['Web']);
  const over = new AbortController();
  const looks = new EventTarget();
  const source = {
    ready: () => {
      looks.dispatchEvent(new Event('look'));
      return false;
    },
    excused: () => false,
    endedBy: () => null,
  };
  const settings = { readinessTimeoutMs: 1e13, pollMs: 1e13, stabilizationMs: 1e13 };
  const looked = once(looks, 'look');
  const stabilized = startup.stabilize(settings, source, over.signal);
  await looked;
  // Node has started the timer, and told of one that it cuts to a millisecond.
  await new Promise(setImmediate);
  over.abort();
  await stabilized;
  t.same(warnings, []);
});
