// A restart is refused before the stop when the service could not be started again.
import { chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, pidOf, restart, start, status, stop } from '../../support/kids.ts';

const needsRoot = { skip: process.getuid?.() === 0 ? false : 'changing the user needs root' };

t.test('obstacles that are known before the stop refuse a restart', needsRoot, async t => {
  const dir = testDir(t);
  const [own, place] = [path.join(dir, 'own'), path.join(dir, 'place')];
  const program = path.join(place, 'program');
  await mkdir(own);
  await mkdir(place);
  for (const directory of [dir, own, place]) await chmod(directory, 0o755);
  const makeProgram = () => writeFile(program, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  await makeProgram();
  const block = (processName: string, more: object = {}) => ({
    ...kid(processName, []),
    command: [program],
    config_dir: own,
    ...more,
  });
  const app = await startHost({
    plugins: ['config', 'process', 'services'],
    config: {
      a: block('Plain'),
      b: block('Patient', { wait_for_dir: place, command: [program], wait_timeout_seconds: 600 }),
      c: block('Relative', { command: ['./program'] }),
      d: block('Without directory', { config_dir: undefined }),
    },
  });
  t.teardown(() => app.stop());
  await writeFile(path.join(own, 'program'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  const names = ['Plain', 'Patient', 'Relative', 'Without directory'] as const;
  for (const name of names) t.match(await start(app, name), { status: 200 }, name);
  const pids = new Map<string, number>();
  for (const name of names) pids.set(name, await pidOf(app, name));
  const refused = async (name: string, detail: RegExp): Promise<void> => {
    t.match(await restart(app, name), { status: 400, body: { detail } });
    t.match(await status(app, name), { status: 'running', health_status: 'healthy' });
    t.equal(await pidOf(app, name), pids.get(name));
  };

  await rm(program);
  for (const name of ['Plain', 'Patient'] as const)
    await refused(name, /cannot start: command .*program was not found; install it.*; until then it goes on running$/);
  t.match(await restart(app, 'Relative'), { status: 200 }, 'what lies in its own directory is looked for there');
  await makeProgram();
  await chmod(place, 0o700);
  await refused('Without directory', /runs as user 65534, which cannot use .*place.*; until then it goes on running$/);
  await chmod(place, 0o755);
  await chmod(own, 0o700);
  await refused('Plain', /runs as user 65534, which cannot use .*own.*; until then it goes on running$/);
  await rename(own, `${own}-away`);
  await refused('Plain', /config_dir .*own does not exist.*; until then it goes on running$/);
  await rename(`${own}-away`, own);
  await chmod(own, 0o755);
  const update = { process_name: 'Plain', updates: { depends_on: ['Nobody'] } };
  t.match(await app.post('/config', update), { status: 200 });
  await refused('Plain', /depends_on names Nobody.*; until then it goes on running$/);
  t.match(await app.post('/config', { process_name: 'Plain', updates: { depends_on: null } }), { status: 200 });
  t.match(await restart(app, 'Plain'), { status: 200 });
  t.not(await pidOf(app, 'Plain'), pids.get('Plain'));
});

t.test('obstacles in what a template completes refuse a restart', needsRoot, async t => {
  const dir = testDir(t);
  await chmod(dir, 0o755);
  const [own, inside] = [path.join(dir, 'own'), path.join(dir, 'own', 'inside')];
  const app = await startHost({
    plugins: ['config', 'process', 'setup', 'services', 'config-files', 'format-xml', 'service-arr'],
    config: {
      sonarr: {
        instances: {
          TV: { config_dir: inside, config_file: path.join(inside, 'config.xml'), command: ['sleep', '600'] },
        },
      },
    },
  });
  t.teardown(() => app.stop());
  t.match(await start(app, 'Sonarr TV'), { status: 200 });
  const pid = await pidOf(app, 'Sonarr TV');
  await chmod(own, 0o700);
  await chown(own, 0, 0);
  t.match(await restart(app, 'Sonarr TV'), {
    status: 400,
    body: { detail: /runs as user 65534.*; until then it goes on running$/ },
  });
  t.equal(await pidOf(app, 'Sonarr TV'), pid);
  await chmod(own, 0o755);
  t.match(await restart(app, 'Sonarr TV'), { status: 200 });
});

t.test('a stopped dependency refuses a restart', async t => {
  const app = await startHost({
    config: {
      below: kid('Below', ['calm']),
      task: kid('Task', [], { oneshot: true, command: ['true'] }),
      above: kid('Above', ['calm'], { depends_on: { Below: 'started', Task: 'completed' } }),
    },
  });
  t.teardown(() => app.stop());
  for (const name of ['Below', 'Task', 'Above']) t.match(await start(app, name), { status: 200 }, name);
  const pid = await pidOf(app, 'Above');
  t.match(await restart(app, 'Above'), { status: 200 }, 'a task that has done its work is stopped for good');
  const next = await pidOf(app, 'Above');
  t.not(next, pid);
  t.match(await stop(app, 'Below'), { status: 200 });
  t.match(await restart(app, 'Above'), {
    status: 409,
    body: { detail: /^Above depends on Below, which is stopped; start Below first.*; until then it goes on running$/ },
  });
  t.match(await status(app, 'Above'), { status: 'running' });
  t.equal(await pidOf(app, 'Above'), next);
  t.match(await start(app, 'Below'), { status: 200 });
  t.match(await restart(app, 'Above'), { status: 200 });
});
