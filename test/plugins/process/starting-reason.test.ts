// The reason of a process while it starts is never empty, and never that of the previous run.
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

t.test('a start after a failure has a reason of its own on every screen', async t => {
  const dir = testDir(t, {});
  const wanted = path.join(dir, 'wanted');
  const app = await startHost({
    plugins: ['config', 'process'],
    config: { kid: kid('Kid', ['calm'], { command: ['/nonexistent/program'], config_dir: dir }) },
  });
  t.teardown(() => app.stop());
  await start(app, 'Kid');
  t.match(await status(app, 'Kid'), { health_status: 'unhealthy', health_reason: /nonexistent/ });

  const seen: { status: string; health_reason: string | null }[] = [];
  const socket = app.ws('/ws/status?interval=1&health=true');
  t.teardown(() => socket.terminate());
  socket.on('message', (data: Buffer) => {
    const entry = JSON.parse(data.toString()).processes.find(
      ({ process_name: name }: { process_name: string }) => name === 'Kid',
    );
    if (entry !== undefined) seen.push(entry);
  });
  await until(() => seen.length > 0);
  const { command } = kid('Kid', ['calm']);
  await app.post('/config', { process_name: 'Kid', updates: { command, wait_for_dir: wanted } });
  const started = start(app, 'Kid');
  await until(() => seen.some(entry => entry.health_reason?.startsWith('Waiting for')));
  await stop(app, 'Kid');
  await started;
  await app.post('/config', { process_name: 'Kid', updates: { wait_for_dir: null } });
  const again = start(app, 'Kid');
  await until(async () => (await status(app, 'Kid')).status === 'starting');
  const { health_reason: reason } = await status(app, 'Kid');
  t.equal((await again).status, 200);
  t.match(reason, /^(Its launch is being prepared|It was launched a moment ago|Its health)/);
  await until(() => seen.at(-1)?.status === 'running');
  const starting = seen.filter(entry => entry.status === 'starting');
  t.notOk(starting.some(entry => entry.health_reason === null || /nonexistent/.test(entry.health_reason)));
});
