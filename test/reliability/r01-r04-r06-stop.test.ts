// R1 to R4 and R6: a stop ends everything that a start brought into being, and nothing else.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { bootId, identify, isAlive, readStat } from '../../plugins/process/supervise/proc-stat.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, lives, notedPid, pidOf, restart, start, status, stop } from '../support/kids.ts';
import { ownLog } from '../support/own-log.ts';
import { freePort } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

for (const [rule, habit] of [
  ['R1: a child of the group ignores SIGTERM after its leader has gone', 'stubborn-child'],
  ['R2: a grandchild in a session of its own', 'leave-group'],
  ['R2: a daemon that forked twice', 'double-fork'],
  ['a leader that ignores SIGTERM', 'ignore-term'],
] as const) {
  t.test(rule, async t => {
    const dir = testDir(t, {});
    await chmod(dir, 0o777);
    const file = path.join(dir, 'pid');
    const app = await startHost({ config: { kid: kid('Kid', [habit, file]) } });
    t.teardown(() => app.stop());
    t.match(await start(app, 'Kid'), {
      status: 200,
      body: { status: 'Service started successfully', process_name: 'Kid' },
    });
    const leader = await pidOf(app, 'Kid');
    const other = await notedPid(file);
    t.ok(lives(leader) && lives(other));
    t.match(await stop(app, 'Kid'), { status: 200, body: { status: 'Service stopped successfully' } });
    t.notOk(lives(leader), 'the leader is gone');
    t.notOk(lives(other), 'its descendant is gone');
    t.match(await status(app, 'Kid'), { status: 'stopped', healthy: null, restart: { disabled: true } });
    t.match(await stop(app, 'Kid'), { status: 200, body: { status: 'Service was not running' } });
  });
}

t.test(
  'R1: the leader ends by itself, and what it left in its group is ended before the status says stopped',
  async t => {
    const dir = testDir(t, {});
    await chmod(dir, 0o777);
    const file = path.join(dir, 'pid');
    const app = await startHost({ config: { kid: kid('Kid', ['stubborn-child', file]) } });
    t.teardown(() => app.stop());
    await start(app, 'Kid');
    const other = await notedPid(file);
    process.kill(await pidOf(app, 'Kid'), 'SIGKILL');
    await until(async () => (await status(app, 'Kid')).status === 'stopped');
    t.notOk(lives(other));
    t.match(await status(app, 'Kid'), {
      healthy: false,
      health_status: 'unhealthy',
      restart: { exit_signal: 'SIGKILL', last_exit_reason: 'Killed by signal SIGKILL (possibly out of memory)' },
    });
  },
);

t.test('R3: a zombie is not alive, whatever kill(pid, 0) answers', async t => {
  const script = 'cat <&3 & echo $!; exec sleep 600 3<&-';
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
  t.teardown(() => parent.kill('SIGKILL'));
  const [, stdout, , input] = parent.stdio;
  const [line] = await once(stdout as Readable, 'data');
  const pid = Number(String(line).trim());
  // The child ends when its parent is one that asks for no child.
  await until(async () => (await readFile(`/proc/${parent.pid}/comm`, 'utf8')) === 'sleep\n');
  (input as Writable).end();
  await until(() => readStat(pid)?.state === 'Z', { what: 'the zombie' });
  t.equal(process.kill(pid, 0), true);
  const identity = identify(pid);
  t.ok(identity);
  if (identity !== null) t.equal(isAlive(identity), false);
});

t.test('R4: a recorded pid with another start time or boot is not adopted and never signalled', async t => {
  const bystander = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  t.teardown(() => bystander.kill('SIGKILL'));
  const pid = bystander.pid ?? 0;
  const identity = identify(pid);
  for (const wrong of [{ start_time: (identity?.startTime ?? 0) - 1 }, { boot_id: 'another' }]) {
    const app = await startHost({ config: { kid: kid('Kid', ['calm']) } });
    await app.host.stop();
    const record = {
      pid,
      pgid: pid,
      start_time: identity?.startTime,
      boot_id: bootId,
      started_at: 1,
      run_id: 'x',
      spool: '/nowhere/x.spool',
      block_digest: '',
      ...wrong,
    };
    await mkdir(path.join(app.configDir, 'supervisor'), { recursive: true });
    await writeFile(
      path.join(app.configDir, 'supervisor', 'state.json'),
      JSON.stringify({ version: 1, processes: { Kid: record } }),
    );
    const again = await startHost({ configDir: app.configDir });
    await until(async () => (await status(again, 'Kid')).status === 'stopped');
    t.match((await stop(again, 'Kid')).body, { status: 'Service was not running' });
    await again.stop();
    await app.stop();
    t.ok(identity !== null && isAlive(identity), 'the bystander lives on');
  }
});

t.test('R6: a grandchild that holds the output does not hold the status up, and its lines are kept', async t => {
  const dir = testDir(t, { log: {} });
  await chmod(dir, 0o777);
  const file = path.join(dir, 'pid');
  const logFile = path.join(dir, 'log', 'kid.log');
  const app = await startHost({
    config: { dumb: { log_dir: path.join(dir, 'log') }, kid: kid('Kid', ['leave-group', file], { log_file: logFile }) },
  });
  t.teardown(() => app.stop());
  await start(app, 'Kid');
  await notedPid(file);
  process.kill(await pidOf(app, 'Kid'), 'SIGKILL');
  await until(async () => (await status(app, 'Kid')).status === 'stopped');
  t.match(await readFile(logFile, 'utf8'), /up\n.*up\n.*ignored SIGTERM/s, 'the last words of the grandchild too');
});

t.test('a stop during a restart wins', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'pid');
  const app = await startHost({
    config: { kid: kid('Stubborn', ['ignore-term', file], { stop_grace_seconds: 4 }) },
  });
  t.teardown(() => app.stop());
  await start(app, 'Stubborn');
  const first = await notedPid(file);
  const restarted = restart(app, 'Stubborn');
  await until(async () => (await status(app, 'Stubborn')).status === 'stopping', { what: 'the first half' });
  const stopped = stop(app, 'Stubborn');
  t.match(await restarted, { status: 409, body: { detail: /cancelled/ } });
  t.equal((await stopped).status, 200);
  t.match(await status(app, 'Stubborn'), { status: 'stopped', restart: { disabled: true } });
  t.notOk(lives(first));

  await rm(file);
  await start(app, 'Stubborn');
  await notedPid(file);
  const cancelled = restart(app, 'Stubborn');
  await until(async () => (await status(app, 'Stubborn')).status === 'stopping', { what: 'the first half' });
  const between = stop(app, 'Stubborn');
  await until(async () => (await status(app, 'Stubborn')).restart.disabled, { what: 'the stop to be heard' });
  const last = restart(app, 'Stubborn');
  t.same(
    (await Promise.all([cancelled, between, last])).map(answer => answer.status),
    [409, 200, 200],
  );
  t.equal((await status(app, 'Stubborn')).status, 'running', 'and the last wish wins over it');
});

t.test('a start that waits for the end of a stop is cancelled by another stop', async t => {
  const file = path.join(testDir(t, {}), 'pid');
  await chmod(path.dirname(file), 0o777);
  const app = await startHost({
    config: { kid: kid('Stubborn', ['ignore-term', file], { stop_grace_seconds: 4 }) },
  });
  t.teardown(() => app.stop());
  await start(app, 'Stubborn');
  await notedPid(file);
  const wantedBy = async () => (await status(app, 'Stubborn')).restart.disabled;
  const first = stop(app, 'Stubborn');
  await until(async () => (await status(app, 'Stubborn')).status === 'stopping');
  const started = start(app, 'Stubborn');
  await until(async () => !(await wantedBy()), { what: 'the start to be heard' });
  const second = stop(app, 'Stubborn');
  t.match(await started, { status: 409, body: { detail: /Start of Stubborn was cancelled by a stop/ } });
  t.same(
    (await Promise.all([first, second])).map(answer => answer.status),
    [200, 200],
  );
  t.equal((await status(app, 'Stubborn')).status, 'stopped');
});

t.test('a start beside a restart is answered when it runs', async t => {
  const file = path.join(testDir(t, {}), 'pid');
  await chmod(path.dirname(file), 0o777);
  const app = await startHost({
    config: {
      kid: kid('Stubborn', ['ignore-term', file], { stop_grace_seconds: 3 }),
      waiting: kid('Waiting', ['calm'], { wait_for_tcp: [{ host: '127.0.0.1', port: await freePort() }] }),
    },
  });
  t.teardown(() => app.stop());
  const isIn = (name: string, state: string) => async () => (await status(app, name)).status === state;
  await start(app, 'Stubborn');
  await notedPid(file);
  const stopped = stop(app, 'Stubborn');
  await until(isIn('Stubborn', 'stopping'));
  const started = start(app, 'Stubborn');
  await until(async () => !(await status(app, 'Stubborn')).restart.disabled, { what: 'the start to be heard' });
  const restarted = restart(app, 'Stubborn');
  for (const answer of await Promise.all([started, restarted, stopped])) t.match(answer, { status: 200 });
  t.ok(await isIn('Stubborn', 'running')(), 'one that waited for a stop');

  const first = start(app, 'Waiting');
  await until(isIn('Waiting', 'starting'));
  const again = restart(app, 'Waiting');
  await until(async () => (await ownLog(app)).some(line => line.includes('Waiting: restart asked for')));
  t.equal(await Promise.race([first.then(() => 'answered'), delay(300, 'waits')]), 'waits', 'one under way goes on');
  t.match(await stop(app, 'Waiting'), { status: 200 });
  for (const answer of await Promise.all([first, again]))
    t.match(answer, { status: 409, body: { detail: /by a stop/ } });
});

t.test('output that cannot be cleared away does not hide the end of a process', async t => {
  const app = await startHost({ config: { kid: kid('Kid', ['calm']) } });
  t.teardown(() => app.stop());
  await start(app, 'Kid');
  const state = JSON.parse(await readFile(`${app.configDir}/supervisor/state.json`, 'utf8'));
  const { pid, spool } = state.processes.Kid;
  await rm(spool);
  await mkdir(spool);
  process.kill(pid, 'SIGKILL');
  await until(async () => (await status(app, 'Kid')).status === 'stopped', { what: 'the end to be told' });
  t.equal((await start(app, 'Kid')).status, 200, 'and it can be started again');
});
