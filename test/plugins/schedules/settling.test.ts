// A time that comes while the last run of a service is ending, or is being taken over, is not lost.
import t from 'tap';
import { scheduled } from '../../support/scheduled.ts';

for (const status of ['stopping', 'unknown'] as const)
  t.test(`while it is ${status}`, async t => {
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

t.test('what turns out to run is passed over', async t => {
  const { done, told, due, move } = scheduled(t, { status: 'unknown' });
  due();
  await move('running');
  t.same(done, []);
  t.match(told, [/not started by its schedule this time: it still runs/]);
});

t.test('what a user stops is not waited for', async t => {
  const { done, told, due, move } = scheduled(t, { status: 'stopping', stoppedByUser: true });
  due();
  t.match(told, [/it was stopped by hand/]);
  await move('stopped');
  t.same(done, []);
});

t.test('what is restarted by its schedule needs no wait', async t => {
  const { done, due } = scheduled(t, { status: 'stopping' }, { cron: '0 0 29 2 *', overlap: 'restart' });
  due();
  t.same(done, ['restart']);
});
