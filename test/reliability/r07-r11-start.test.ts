// R7, R10 and R11: why a start failed, two commands at once, and a stop during a wait.
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { lookAround } from '../../plugins/process/supervise/proc-table.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, pidOf, restart, start, status, stop } from '../support/kids.ts';
import { until } from '../support/until.ts';

t.test('R7: each way in which a program cannot be launched is told apart', async t => {
  const dir = testDir(t, { 'not-executable': '#!/bin/sh\n', gone: '#!/nowhere/interpreter\n' });
  await chmod(path.join(dir, 'gone'), 0o755);
  const block = (name: string, more: object) => ({ enabled: false, process_name: name, ...more });
  const app = await startHost({
    // The last two end within the observation, however slow the machine is.
    pace: 1,
    config: {
      a: block('No command', {}),
      b: block('Unknown program', { command: ['no-such-program-anywhere'] }),
      c: block('Unknown path', { command: ['/nowhere/program'] }),
      d: block('Not executable', { command: [path.join(dir, 'not-executable')] }),
      e: block('No directory', { command: ['sleep', '600'], config_dir: '/nowhere/at/all' }),
      f: block('No interpreter', { command: [path.join(dir, 'gone')] }),
      g: block('Open quote', { command: 'sleep "600' }),
      h: block('Crasher', {
        command: ['sh', '-c', 'echo "ERROR cannot open the thing" >&2; echo "    at frame (file.js:1:1)" >&2; exit 7'],
      }),
      j: block('Directory', { command: ['/usr/bin'] }),
      i: block('Clean end', { command: ['true'] }),
    },
  });
  t.teardown(() => app.stop());
  for (const [name, code, detail] of [
    ['No command', 400, /no command/],
    ['Unknown program', 400, /command no-such-program-anywhere was not found in any directory of PATH; install it/],
    ['Unknown path', 400, /command \/nowhere\/program was not found/],
    ['Not executable', 400, /not-executable is not executable/],
    ['Directory', 400, /^Directory cannot start: command \/usr\/bin is a directory; name the program in it$/],
    ['No directory', 400, /config_dir \/nowhere\/at\/all does not exist/],
    ['No interpreter', 400, /gone needs an interpreter or loader that is missing/],
    ['Open quote', 400, /not closed/],
    ['Crasher', 500, /^Crasher failed to stay running \(exit code 7\): ERROR cannot open the thing$/],
    ['Clean end', 500, /^Clean end failed to stay running \(exit code 0\)/],
  ] as const) {
    const answer = await start(app, name);
    t.equal(answer.status, code, name);
    t.match(answer.body.detail, detail);
    t.match(await status(app, name), {
      status: 'stopped',
      healthy: false,
      health_status: 'unhealthy',
      health_reason: detail,
    });
  }
  t.match(await start(app, 'nobody'), {
    status: 404,
    body: { detail: /^Process not found: 'nobody' is no process_name.*GET \/process\/processes/ },
  });
  t.match(await start(app, 'DUMB API'), {
    status: 400,
    body: { detail: 'The API service cannot be controlled through its own API' },
  });
  t.match(await stop(app, 'dumb  api'), { status: 400 });
});

t.test('R10: commands at the same time end in one process', async t => {
  const app = await startHost({ config: { kid: kid('Kid', ['calm']) } });
  t.teardown(() => app.stop());
  const answers = await Promise.all([start(app, 'Kid'), start(app, 'kid'), start(app, 'KID'), start(app, 'Kid')]);
  t.same(
    answers.map(answer => answer.status),
    [200, 200, 200, 200],
  );
  const first = await pidOf(app, 'Kid');
  t.equal(lookAround().processes.filter(({ pgid }) => pgid === first).length, 1);
  t.match((await start(app, 'Kid')).body.status, 'Service is already running');

  const [stopped, startedAfter] = await Promise.all([stop(app, 'Kid'), start(app, 'Kid')]);
  t.equal(stopped.status, 200);
  t.equal(startedAfter.status, 200);
  t.match(await status(app, 'Kid'), { status: 'running' });

  const before = await pidOf(app, 'Kid');
  const restarts = await Promise.all([restart(app, 'Kid'), restart(app, 'Kid'), restart(app, 'Kid')]);
  t.same(
    restarts.map(answer => answer.body.status),
    Array(3).fill('Service restarted successfully'),
  );
  t.not(await pidOf(app, 'Kid'), before);
  const leader = await pidOf(app, 'Kid');
  t.equal(lookAround().processes.filter(({ pgid }) => pgid === leader).length, 1);
});

t.test('R11: a stop while a start waits cancels it, for good', async t => {
  const dir = testDir(t, {});
  const wanted = path.join(dir, 'appears-later');
  const app = await startHost({ config: { kid: kid('Kid', ['calm'], { wait_for_dir: wanted }) } });
  t.teardown(() => app.stop());
  const starting = start(app, 'Kid');
  await until(async () => (await status(app, 'Kid')).health_reason?.includes(wanted));
  t.match(await status(app, 'Kid'), { status: 'starting', healthy: null, health_status: 'starting' });
  t.match(await stop(app, 'Kid'), { status: 200 });
  t.match(await starting, { status: 409, body: { detail: 'Start of Kid was cancelled' } });
  await writeFile(wanted, '');
  t.match(await status(app, 'Kid'), { status: 'stopped', healthy: null });
  t.match(await start(app, 'Kid'), { status: 200 });
});

t.test('a wait that ends in nothing says what was missing', async t => {
  const app = await startHost({
    config: {
      kid: kid('Kid', ['calm'], { wait_for_mounts: ['/nowhere/mounted'], wait_timeout_seconds: 0 }),
      tcp: kid('Tcp', ['calm'], { wait_for_tcp: { host: '127.0.0.1', port: 1 }, wait_timeout_seconds: 0 }),
      url: kid('Url', ['calm'], {
        wait_for_url: 'http://user:hunter2@127.0.0.1:1/x?token=hunter2',
        wait_timeout_seconds: 0,
      }),
    },
  });
  t.teardown(() => app.stop());
  t.match(await start(app, 'Kid'), {
    status: 500,
    body: { detail: /mount \/nowhere\/mounted did not become available within 0 s/ },
  });
  t.match(await start(app, 'Tcp'), { status: 500, body: { detail: /127\.0\.0\.1:1 did not become available/ } });
  const url = await start(app, 'Url');
  t.match(url, { status: 500, body: { detail: /http:\/\/127\.0\.0\.1:1\/x did not become available/ } });
  t.notMatch(url.text, /hunter2/);
});
