// Changes of plugin folders during the start of a host.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const COUNTER = `export default { name: 'untouched', host: '^1', setup() {
  globalThis.timesCounted = (globalThis.timesCounted ?? 0) + 1;
} };`;

t.test('changes during the start of the host are noticed', async t => {
  const app = await startWithPlugins(t, {
    // It has been imported when `changer` is set up, which changes this file and adds a folder beside it.
    changed: { setup: '', more: "version: '1.0.0', after: ['changer']," },
    changer: `
      const { mkdirSync, readFileSync, writeFileSync } = await import('node:fs')
      const { folder } = host.plugins().find(({ name }) => name === 'changed')
      const text = readFileSync(folder + '/index.js', 'utf8')
      writeFileSync(folder + '/index.js', text.replace('1.0.0', '2.0.0'))
      mkdirSync(folder + '/../added')
      writeFileSync(folder + '/../added/index.js', text.replace("'changed'", "'added'"))
    `,
    untouched: 'globalThis.timesSetUp = (globalThis.timesSetUp ?? 0) + 1',
  });
  const find = (wanted: string) => app.host.plugins().find(({ name }) => name === wanted);
  const isReady = (version: string) => find('changed')?.version === version && find('changed')?.state === 'ready';
  await until(() => isReady('2.0.0'), { what: 'the new version' });
  await until(() => find('added'), { what: 'the new folder' });
  const file = path.join(find('changed')?.folder ?? '', 'index.js');
  await writeFile(file, (await readFile(file, 'utf8')).replace('2.0.0', '3.0.0'));
  await until(() => isReady('3.0.0'), { what: 'a later version' });
  t.equal((globalThis as { timesSetUp?: number }).timesSetUp, 1, 'and nothing else is loaded again');
});

t.test('a missing directory does not make plugins look changed', async t => {
  const directory = testDir(t, { untouched: { 'index.js': COUNTER } });
  const app = await startHost({ pluginDirs: [directory, path.join(directory, 'missing', 'plugins')] });
  t.teardown(() => app.stop());
  await mkdir(path.join(directory, 'late'));
  await writeFile(path.join(directory, 'late', 'index.js'), `export default { name: 'late', host: '^1', setup() {} }`);
  await until(() => app.host.plugins().find(({ name }) => name === 'late')?.state === 'ready', {
    what: 'a new folder',
  });
  t.equal((globalThis as { timesCounted?: number }).timesCounted, 1, 'what was there before is loaded once');
});

t.test('a directory that disappears right after the start is noticed', async t => {
  const directory = testDir(t, { plugins: { short: { 'index.js': COUNTER.replace('untouched', 'short') } } });
  const plugins = path.join(directory, 'plugins');
  const app = await startHost({ pluginDirs: [plugins] });
  t.teardown(() => app.stop());
  t.equal(app.host.plugins()[0]?.state, 'ready');
  await rm(plugins, { recursive: true });
  await until(() => app.host.plugins().length === 0, { what: 'its plugin to be gone' });
});

t.test('a plugin that writes to its own folder is not reloaded endlessly', async t => {
  const loads: number[] = [];
  Object.assign(globalThis, { loadsOfTest: loads });
  const app = await startWithPlugins(t, {
    writer: `globalThis.loadsOfTest.push(1)
      const { folder } = host.plugins().find(({ name }) => name === 'writer')
      const { writeFileSync } = await import('node:fs')
      writeFileSync(folder + '/written.txt', String(globalThis.loadsOfTest.length))`,
    other: '',
  });
  await until(async () => (await ownLog(app)).some(line => /the folder of writer changes all the time/.test(line)));
  t.equal(loads.length, 11, 'once, and ten times more');
  const other = app.host.plugins().find(({ name }) => name === 'other')?.folder ?? '';
  const file = path.join(other, 'index.js');
  await writeFile(file, (await readFile(file, 'utf8')).replace("name: 'other'", "name: 'other', version: '2'"));
  await until(() => app.host.plugins().find(({ name }) => name === 'other')?.version === '2', { what: 'another one' });
  t.equal(loads.length, 11);
});

t.test('a directory that the configuration adds is watched, one that it leaves out is not', async t => {
  const base = testDir(t, { config: {}, more: { extra: { 'index.js': '' } } });
  const source = (version: string) => `export default { name: 'extra', host: '^1', version: '${version}', setup() {} }`;
  const file = path.join(base, 'more', 'extra', 'index.js');
  await writeFile(file, source('1.0.0'));
  const configDir = path.join(base, 'config');
  const plugins = { enabled: ['config', 'extra', 'host-plugins'], required: ['config'] };
  const port = await writeConfig(configDir, { dumb: { plugins } });
  const running = await startStackwarden(configDir, port);
  t.teardown(async () => {
    running.child.kill('SIGTERM');
    await running.exited;
  });
  const config = path.join(configDir, 'stackwarden.json');
  const root = JSON.parse(await readFile(config, 'utf8'));
  const setDirs = (dirs: string[]) =>
    writeFile(config, JSON.stringify({ ...root, dumb: { ...root.dumb, plugins: { ...plugins, dirs } } }));
  const version = async () => {
    const answer = (await (await fetch(`${running.base}/host/plugins`)).json()) as {
      plugins: { name: string; version: string | null }[];
    };
    return answer.plugins.find(({ name }) => name === 'extra')?.version;
  };
  await setDirs([`${base}/more/`]);
  await until(async () => (await version()) === '1.0.0', { what: 'the plugin' });
  await writeFile(file, source('2.0.0'));
  await until(async () => (await version()) === '2.0.0', { what: 'its new version' });
  await setDirs([]);
  await until(async () => (await version()) === undefined, { what: 'its end' });
  await writeFile(file, source('3.0.0'));
  await setDirs([`${base}/more/`]);
  await until(async () => (await version()) === '3.0.0', { what: 'the plugin once more' });
});
