// A service whose leader has ended is stopping until the processes that it left have ended, wherever its status is
// shown.
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, lives, notedPid, pidOf, restart, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const REASON = 'Killed by signal SIGKILL (possibly out of memory)';

interface Entry {
  readonly process_name: string;
  readonly status: string;
}

/** A service whose leader was killed, while its child ignores the signal of the stop. */
async function killed(t: Test) {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'child');
  const app = await startHost({
    plugins: ['process', 'config', 'health', 'health-probe', 'dependency-graph', 'prometheus'],
    config: { kid: kid('Kid', ['stubborn-child', file], { stop_grace_seconds: 600 }) },
  });
  t.teardown(() => app.stop());
  const messages: { processes: Entry[] }[] = [];
  app.ws('/ws/status?health=true').on('message', data => messages.push(JSON.parse(String(data))));
  const names: string[][] = [];
  app.ws('/ws/status').on('message', data => names.push(JSON.parse(String(data)).running));
  t.equal((await start(app, 'Kid')).status, 200);
  const child = await notedPid(file);
  const leader = await pidOf(app, 'Kid');
  process.kill(leader, 'SIGKILL');
  await until(async () => (await status(app, 'Kid')).status === 'stopping', { what: 'the status stopping' });
  return { app, leader, child, messages, names };
}

const ofKid = (entries: readonly Entry[] = []) => entries.find(({ process_name: name }) => name === 'Kid');

t.test('every route and stream says so', async t => {
  const { app, child, messages, names } = await killed(t);
  t.match(await status(app, 'Kid'), {
    healthy: null,
    health_status: null,
    restart: { readiness_state: 'pending', last_exit_reason: REASON, exit_signal: 'SIGKILL' },
  });
  t.match((await app.get('/process?process_name=Kid')).body, { status: 'stopping' });
  t.match(ofKid((await app.get('/process/processes')).body.processes), { status: 'stopping' });
  t.match((await app.get('/process/dependency-graph?process_name=Kid')).body, { statuses: { Kid: 'stopping' } });
  t.match((await app.get('/health')).body, { status: 'unhealthy', details: `Kid: ${REASON}` });
  await until(
    () => ofKid(messages.at(-1)?.processes)?.status === 'stopping' && names.at(-1)?.includes('Kid') === false,
  );
  t.ok(lives(child), 'before it has ended');

  process.kill(child, 'SIGKILL');
  await until(async () => (await status(app, 'Kid')).status === 'stopped');
  t.match(await status(app, 'Kid'), { healthy: false, health_status: 'unhealthy', health_reason: REASON });
  await until(() => ofKid(messages.at(-1)?.processes)?.status === 'stopped');
  const told = messages.flatMap(({ processes }) => ofKid(processes)?.status ?? []);
  const changes = told.filter((value, index) => value !== told[index - 1]);
  t.strictSame(changes.slice(changes.indexOf('running')), ['running', 'stopping', 'stopped']);
});

t.test('a stop meanwhile makes the end a requested one', async t => {
  const { app, child } = await killed(t);
  const stopped = stop(app, 'Kid');
  await until(async () => (await status(app, 'Kid')).restart.disabled);
  t.match(await status(app, 'Kid'), { status: 'stopping' });
  process.kill(child, 'SIGKILL');
  t.match(await stopped, { status: 200 });
  t.match(await status(app, 'Kid'), { status: 'stopped', health_status: null });
});

t.test('a restart meanwhile waits for the end', async t => {
  const { app, child, leader } = await killed(t);
  const restarted = restart(app, 'Kid');
  process.kill(child, 'SIGKILL');
  t.match(await restarted, { status: 200 });
  const next = await pidOf(app, 'Kid');
  t.not(next, leader);
  t.match(await status(app, 'Kid'), { status: 'running' });
  process.kill(-next, 'SIGKILL');
});
