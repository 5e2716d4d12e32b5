// Two blocks with the same name: the first is the service, under every spelling of the name; the second is not listed,
// and its faults do not affect the first.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { kid, lives, pidOf, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

t.test('the first of two blocks with one name is the service', async t => {
  const app = await startHost({
    plugins: ['config', 'process', 'logs'],
    config: {
      first: kid('Kid', ['calm'], { enabled: true }),
      twins: { instances: { Other: kid('Kid', ['no-such-habit'], { enabled: true, port: 'none', api_key: 'x' }) } },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Kid')).status === 'running');
  const { processes } = (await app.get('/process/processes')).body;
  const listed = processes.filter((entry: { process_name: string }) => entry.process_name === 'Kid');
  t.match(listed, [{ config_key: 'first', status: 'running' }]);
  t.equal(listed.length, 1);
  for (const name of ['Kid', 'kid', ' KID'])
    t.match(await status(app, name), { process_name: 'Kid', status: 'running' }, `asked for as '${name}'`);
  const log = async () => (await app.get('/logs?process_name=DUMB')).body.chunk as string;
  const told =
    /twins\.instances\.Other: the name 'Kid' is that of first, so twins\.instances\.Other is no service; give/;
  await until(async () => told.test(await log()), { what: 'the log to tell of it' });

  const pid = await pidOf(app, 'Kid');
  t.match(await stop(app, 'KID'), { status: 200 });
  t.notOk(lives(pid));
  t.match(await start(app, 'kid'), { status: 200 }, 'a value of the second that does not fit keeps nobody from it');
  t.equal((await app.get('/config')).body.twins.instances.Other.port, 'none', 'the configuration is shown as it is');
});
