// A scheduled time while the last run of a service ends, or is adopted, is not lost.
import t from 'tap';
import { scheduled } from '../../support/scheduled.ts';

for (const status of ['stopping', 'unknown'] as const)
  t.test(`a time while the service is ${status} is not lost`, async t => {
    const { done, told, due, move } = scheduled(t, { status });
    due();
    due();
    await move(status);
    t.same([done, told], [[], []], 'nothing is decided yet');
    await move('stopped');
    t.same(done, ['start'], 'once');
    await move('starting');
    await move('stopped');
    t.same(done, ['start'], 'nothing is left of it');
  });

t.test('a service that turns out to run is not started', async t => {
  const { done, told, due, move } = scheduled(t, { status: 'unknown' });
  due();
  await move('running');
  t.same(done, []);
  t.match(told, [/not started by its schedule this time: it still runs/]);
});

t.test('a service that a user stops is not started', async t => {
  const { done, told, due, move } = scheduled(t, { status: 'stopping', stoppedByUser: true });
  due();
  t.match(told, [/it was stopped by hand/]);
  await move('stopped');
  t.same(done, []);
});

t.test('a scheduled restart does not wait', async t => {
  const { done, due } = scheduled(t, { status: 'stopping' }, { cron: '0 0 29 2 *', overlap: 'restart' });
  due();
  t.same(done, ['restart']);
});
