// The watch of conditions, switched off while a pass is in progress: it begins anew when it is switched on again.
import t from 'tap';
import { Monitor, type MonitorOptions } from '../../../plugins/notifications/monitor.ts';

/** A promise, and the function that resolves it. */
function held<Value>() {
  let release: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>(resolve => {
    release = resolve;
  });
  return { promise, release: (value: Value) => release(value) };
}

/** A monitor of one condition. `pass` begins a pass of the last timer and resolves with its end. */
function watch(stored: () => Promise<object[]>, observe: () => Promise<boolean>) {
  const told: string[] = [];
  let enabled = true;
  let pass = async (): Promise<void> => undefined;
  const host = {
    paced: (ms: number) => ms,
    emit: (type: string) => void told.push(type),
    every: (_ms: number, callback: typeof pass) => {
      pass = callback;
      return () => undefined;
    },
  };
  const condition = { key: 'a', type: 'tank.empty', isCritical: false, title: 'empty', overTitle: 'full', body: '' };
  const source = {
    observe: async () => [{ ...condition, isTrue: await observe(), value: 1 }],
    tell: (type: string) => void told.push(type),
  };
  const options = {
    store: { isUsable: true, write: (name: string) => (name === 'conditions' ? stored() : Promise.resolve()) },
    sources: [{ key: 'tank', value: source }],
    settings: () => ({ enabled, monitor_interval_sec: 60, thresholds: { duration_sec: 0 } }),
    isStarted: () => true,
  };
  const monitor = new Monitor(host as never, options as unknown as MonitorOptions);
  const turn = (on: boolean) => {
    enabled = on;
    monitor.adjust();
  };
  turn(true);
  return { told, turn, pass: () => pass() };
}

t.test('what a pass observes after that is not noted', async t => {
  const answer = held<boolean>();
  const answers = [answer.promise];
  const { told, turn, pass } = watch(
    async () => [],
    async () => answers.shift() ?? true,
  );
  const interrupted = pass();
  await new Promise(setImmediate);
  t.equal(answers.length, 0, 'the source is being asked');
  turn(false);
  answer.release(true);
  await interrupted;
  turn(true);
  await pass();
  t.same(told, [], 'the first pass sends no alert');
  await pass();
  t.same(told, ['tank.empty']);
});

t.test('what was told before is not read after that', async t => {
  const stored = held<object[]>();
  const { told, turn, pass } = watch(
    () => stored.promise,
    async () => false,
  );
  const interrupted = pass();
  turn(false);
  stored.release([{ key: 'tank:a', value: '{"type":"tank.empty"}' }]);
  await interrupted;
  turn(true);
  await pass();
  t.same(told, [], 'its end is not told');
});
