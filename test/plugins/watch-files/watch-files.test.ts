// `watch`: changes restart a service once, after they have calmed down; ignored files and stopped services are left
// alone.
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { isIgnored } from '../../../plugins/watch-files/ignored.ts';
import { testDir } from '../../support/directory.ts';
import { recordEvents } from '../../support/events.ts';
import { hold, holderFolder, release } from '../../support/holder.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, start, status, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

t.test('changed files restart their service once', async t => {
  const base = testDir(t, {
    app: {
      'app.js': '1',
      run: '#!/bin/sh\nexec sleep 600\n',
      deep: { 'part.js': '1' },
      'out.log': '',
      node_modules: { 'x.js': '1' },
      cache: { x: '' },
    },
    closed: { 'x.js': '1' },
    config: {},
  });
  const [dir, closed, configDir] = ['app', 'closed', 'config'].map(name => path.join(base, name)) as [
    string,
    string,
    string,
  ];
  await chmod(closed, 0o700);
  const program = path.join(dir, 'run');
  await chmod(program, 0o755);
  const { count, plugins, pluginDirs } = await recordEvents(t, ['watch-files']);
  const block = (processName: string, more: object) => ({
    enabled: true,
    process_name: processName,
    command: [program],
    config_dir: dir,
    suppress_logging: true,
    stop_grace_seconds: 1,
    ...more,
  });
  const config = {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    app: block('App', { watch: { paths: '.', ignore: ['*.log', 'cache/'], delay_seconds: 0.3 } }),
    hidden: block('Hidden', { watch: [path.join(closed, 'x.js')] }),
  };
  const app = await startHost({ configDir, plugins, pluginDirs, config });
  t.teardown(() => app.host.stop('fault'));
  const logged = (line: string, times = 1, host = app) =>
    until(async () => (await ownLog(host)).filter(one => one.includes(line)).length >= times, { what: line });
  const change = (name: string) => writeFile(path.join(dir, name), String(Math.random()));
  const restarts = () => count('service_start', 'App') - 1;
  await logged('App is watched for changes');
  await logged(`Hidden: ${closed}/x.js of its watch cannot be seen by its user`);

  for (const name of ['out.log', 'cache/x', 'node_modules/x.js']) await change(name);
  for (const name of ['app.js', 'deep/part.js', 'deep/new.js']) await change(name);
  await until(() => restarts() === 1, { what: 'the restart' });
  const [line = ''] = (await ownLog(app)).filter(one => one.includes('App is restarted: '));
  t.match(line, /\/(app|deep\/part|deep\/new)\.js and \d more changed$/);
  t.notMatch(line, /out\.log|node_modules|cache/);

  await rename(program, `${program}.away`);
  await logged('App could not be restarted after a change: ');
  await rename(`${program}.away`, program);
  await until(() => restarts() === 2, { what: 'the restart of what had failed' });

  await stop(app, 'App');
  await change('app.js');
  t.equal((await status(app, 'App')).status, 'stopped');
  await start(app, 'App');
  await logged('App is watched for changes', 2);
  await change('app.js');
  await until(() => restarts() === 4, { what: 'the restart after a start by hand' });
  t.equal(count('service_start', 'Hidden'), 1);
  const pid = await pidOf(app, 'App');
  await app.host.stop('fault');

  const next = await startHost({ configDir, plugins, pluginDirs });
  t.teardown(() => next.stop());
  await logged('App is watched for changes', 3, next);
  await mkdir(path.join(dir, 'more'));
  await until(async () => ![pid, undefined].includes(await pidOf(next, 'App')), {
    what: 'the restart of what was adopted',
  });
});

t.test('what takes the place of a watched path is watched too', async t => {
  const base = testDir(t, { app: { one: '', two: '', dir: { part: '' }, app: {}, release: { part: '' } }, config: {} });
  const dir = path.join(base, 'app');
  const at = (name: string) => path.join(dir, name);
  for (const place of [base, dir]) await chmod(place, 0o755);
  await symlink('release', at('current'));
  const { count, plugins, pluginDirs } = await recordEvents(t, ['watch-files']);
  const watched = ['one', 'two', 'dir', 'later/part', 'app', 'current'];
  const app = await startHost({
    configDir: path.join(base, 'config'),
    plugins,
    pluginDirs,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      app: {
        enabled: true,
        process_name: 'App',
        command: ['sleep', '600'],
        config_dir: dir,
        suppress_logging: true,
        watch: { paths: watched, delay_seconds: 0.1 },
      },
    },
  });
  t.teardown(() => app.stop());
  const said = (line: string) => until(async () => (await ownLog(app)).some(one => one.includes(line)), { what: line });
  await said(`${at('later/part')} of its watch cannot be seen`);
  await said('App is watched for changes');
  await until(() => count('service_start', 'App') === 1, { what: 'the first start' });
  const write = (name: string) => writeFile(at(name), String(Math.random()), { mode: 0o644 });
  const make = (name: string) => mkdir(at(name), { mode: 0o755 });
  const changes: Record<string, () => Promise<unknown>> = {
    'a file is removed': () => rm(at('one')),
    'it comes back': () => write('one'),
    'it is written': () => write('one'),
    'a directory is removed': () => rm(at('dir'), { recursive: true }),
    'the directory comes back': () => make('dir'),
    'a file comes into it': () => write('dir/part'),
    'another directory is put in its place': async () => {
      await make('next');
      await rename(at('dir'), at('away'));
      await rename(at('next'), at('dir'));
    },
    'a file comes into that': () => write('dir/part'),
    'what was missing comes': () => make('later').then(() => write('later/part')),
    'a file changes behind a link': () => write('release/part'),
    'what has the name of its directory is removed': () => rm(at('app'), { recursive: true }),
    'and comes back': () => make('app'),
  };
  let restarts = 0;
  for (const [what, change] of Object.entries(changes)) {
    await change();
    restarts += 1;
    await until(() => count('service_start', 'App') - 1 >= restarts, { what });
    await until(async () => (await status(app, 'App')).status === 'running');
    restarts = count('service_start', 'App') - 1;
  }
});

t.test('patterns match names like the equivalent regular expression', async t => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(text, text, (name, pattern) => {
      const parts = pattern.split('*').map(part => part.replaceAll('.', '\\.'));
      return (
        isIgnored(`/r/${name}`, '/r', [pattern]) === new RegExp(`^${parts.join('.*')}$`).test(name) ||
        name.includes('..') ||
        name === '.'
      );
    }),
  );
  t.ok(isIgnored('/r/a/b/c', '/r', ['a/b']));
  t.notOk(isIgnored('/r/a/bc', '/r', ['a/b/']));
  t.ok(isIgnored('/r/x/.git/HEAD', '/r', []));
});

t.test('a change waits until a hold has ended', async t => {
  const dir = testDir(t, { app: { 'app.js': '1' } });
  await chmod(dir, 0o755);
  const { count, plugins, pluginDirs } = await recordEvents(t, ['watch-files', 'holder']);
  const app = await startHost({
    plugins,
    pluginDirs: [...pluginDirs, await holderFolder(t)],
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      app: {
        enabled: true,
        process_name: 'App',
        command: ['sleep', '600'],
        config_dir: path.join(dir, 'app'),
        suppress_logging: true,
        stop_grace_seconds: 1,
        watch: { paths: '.', delay_seconds: 0.1 },
      },
    },
  });
  t.teardown(() => app.stop());
  const logged = (line: string) =>
    until(async () => (await ownLog(app)).some(one => one.includes(line)), { what: line });
  await logged('App is watched for changes');
  await until(() => count('service_start', 'App') === 1);
  await hold(app, 'App');
  await writeFile(path.join(dir, 'app', 'app.js'), '2');
  await logged('App is held (its files are moved); it is restarted for its changes when that is done');
  t.equal(count('service_start', 'App'), 1);
  await release(app, 'App');
  await until(() => count('service_start', 'App') === 2, { what: 'the restart after the hold' });
});
