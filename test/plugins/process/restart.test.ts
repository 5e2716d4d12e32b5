// Concurrent restarts become one.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';

t.test('many restarts at once are one', async t => {
  const host = await startHost({ plugins: ['process', 'config'], config: { kid: kid('Kid', ['calm']) } });
  t.teardown(() => host.stop());
  const ask = (what: string) => host.post(`/process/${what}-service`, { process_name: 'Kid' });
  const pid = async () => (await host.get('/process/service-statuses')).body.processes[0].pid;
  t.equal((await ask('start')).status, 200);
  const first = await pid();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('restart')));
  t.ok(
    answers.every(({ status }) => status === 200),
    'none cancels another',
  );
  t.not(await pid(), first);
});
