// A start that is refused before a launch leaves nothing behind: no enabled process, no port, no directory.
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { restart, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const service = (processName: string, command: readonly string[], more: object = {}) => ({
  enabled: false,
  process_name: processName,
  command,
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

t.test('a missing program refuses the start', async t => {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const app = await startHost({
    plugins: ['config', 'process'],
    // At this pace a start is observed until its program ends, however long that takes.
    pace: 10,
    config: {
      gone: service('Gone', ['/nowhere/program'], { port }),
      empty: service('Empty', []),
      broken: service('Broken', ['false']),
      on: service('On', ['/nowhere/program'], { enabled: true }),
    },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const before = await readFile(file, 'utf8');
  const enabled = async () => {
    const { processes } = (await app.get('/process/processes')).body;
    const named = processes.filter((entry: { enabled: boolean }) => entry.enabled);
    return named
      .map((entry: { process_name: string }) => entry.process_name)
      .filter((name: string) => name !== 'DUMB API');
  };
  const wanted = async () =>
    JSON.parse(await readFile(path.join(app.configDir, 'supervisor', 'state.json'), 'utf8')).wanted;

  for (const [ask, name] of [
    [start, 'Gone'],
    [restart, 'Gone'],
    [start, 'Empty'],
  ] as const)
    t.match(await ask(app, name), { status: 400, body: { detail: /cannot start/ } });
  t.equal(await readFile(file, 'utf8'), before, 'no port was moved for it');
  t.notOk(existsSync(path.join(app.configDir, 'services', 'gone')), 'nor a directory made');
  t.notMatch(await enabled(), ['Gone'], 'it counts as enabled no more than before');
  t.same(await wanted(), {}, 'nor does the next host start it');
  t.match(await status(app, 'Gone'), { health_status: 'unhealthy', health_reason: /was not found/ });

  const both = await Promise.all([start(app, 'Gone'), start(app, 'Gone')]);
  t.match(both, [{ status: 400 }, { status: 400 }]);
  t.same(await wanted(), {}, 'nor after two requests at once');

  t.equal((await start(app, 'Broken')).status, 500, 'what was launched and ended was not refused');
  t.match(await wanted(), { Broken: { state: 'running' } });
  t.equal((await start(app, 'On')).status, 400);
  t.same((await enabled()).toSorted(), ['Broken', 'On'], 'what is enabled stays so');

  t.equal((await stop(app, 'Empty')).status, 200);
  t.equal((await start(app, 'Empty')).status, 400);
  t.match(await wanted(), { Empty: { state: 'stopped' } }, 'and what was stopped');
});

t.test('the reason has no secret of the command', async t => {
  const app = await startHost({
    plugins: ['config', 'process'],
    config: {
      dumb: { startup: { stabilization_seconds: 0 } },
      odd: service('Odd', ['API_TOKEN=hunter2 /nowhere/program'], { enabled: true }),
    },
  });
  t.teardown(() => app.stop());
  const reason = /command API_TOKEN=\[REDACTED\].* was not found/;
  t.match((await start(app, 'Odd')).body, { detail: reason });
  t.match(await status(app, 'Odd'), { health_reason: reason, restart: { last_failure_reason: reason } });
  const { failures } = await until(async () => {
    const { body } = await app.get('/process/startup-status');
    return body.phase === 'degraded' && body;
  });
  t.match(failures, { Odd: reason });
  for (const route of ['/process/service-status?include_health=true&process_name=Odd', '/process/startup-status'])
    t.notMatch((await app.get(route)).text, /hunter2/, route);
});

t.test('a program that the service waits for may come with it', async t => {
  const dir = testDir(t, {});
  const place = path.join(dir, 'later');
  const program = path.join(place, 'program');
  const app = await startHost({
    plugins: ['config', 'process'],
    config: { late: service('Late', [program], { wait_for_dir: place }) },
  });
  t.teardown(() => app.stop());
  const starting = start(app, 'Late');
  await until(async () => (await status(app, 'Late')).health_reason?.startsWith('Waiting for directory'));
  const made = path.join(dir, 'made');
  await mkdir(made);
  await writeFile(path.join(made, 'program'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  await rename(made, place);
  t.match(await starting, { status: 200 });
});
