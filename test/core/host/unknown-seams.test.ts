// A hook, event or point that no plugin has is logged once when a plugin uses it, with the name that was probably
// meant.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { readSeams } from '../../../core/build/seams.ts';
import { nearestWord } from '../../../core/kit/nearest-word.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';
import { spawnStackwarden } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const OWNER = `host.hook('mine.moment', 'series')
  host.event('mine.sent', { description: 'Something was sent' })
  host.point('mine.list', {})`;
const MISSPELT = `host.tap('mine.momentt', () => undefined)
  host.on('mine.snet', () => undefined)
  host.on('*', () => undefined)
  host.contribute('mine.lists', import.meta.url, {})
  host.tap('absent.thing', () => undefined)`;
const source = (name: string, setup: string) =>
  `export default { name: '${name}', host: '^1', setup (host) { ${setup} } }`;
const toldOf = (plugin: string) => [
  `WARNING - host: the plugin ${plugin} taps the hook 'mine.momentt', which no loaded plugin has; 'mine.moment' is probably meant`,
  `WARNING - host: the plugin ${plugin} listens to the event 'mine.snet', which no loaded plugin has; 'mine.sent' is probably meant`,
  `WARNING - host: the plugin ${plugin} contributes to the point 'mine.lists', which no loaded plugin has; 'mine.list' is probably meant`,
  `INFO - host: the plugin ${plugin} taps the hook 'absent.thing', which no loaded plugin has`,
];

t.test('unknown names are logged at the start, and for a plugin that is loaded later', async t => {
  const configDir = testDir(t, {
    plugins: { early: { 'index.js': source('early', MISSPELT) }, owner: { 'index.js': source('owner', OWNER) } },
  });
  const app = await startHost({ configDir, plugins: ['early', 'owner', 'late'] });
  t.teardown(() => app.stop());
  const told = async () =>
    (await ownLog(app)).flatMap(line => /\w+ - host: the plugin \w+ (?:taps|listens|contributes).*/.exec(line) ?? []);
  t.same(await told(), toldOf('early'));

  await mkdir(path.join(configDir, 'plugins', 'late'));
  await writeFile(path.join(configDir, 'plugins', 'late', 'index.js'), source('late', MISSPELT));
  await until(async () => (await told()).length > 4, { what: 'the plugin that came later' });
  t.same(await told(), [...toldOf('early'), ...toldOf('late')]);
});

t.test('check names unknown names, and none that the product has', async t => {
  const configDir = testDir(t, {
    'stackwarden.json': '{}',
    plugins: {
      wrong: { 'index.js': source('wrong', `host.tap('process.statuss', () => undefined)`) },
      right: {
        'index.js': source(
          'right',
          `for (const name of ['process.status', 'process.launching', 'auth.changed']) host.tap(name, () => undefined)
           host.on('service_start', () => undefined)`,
        ),
      },
    },
  });
  const checked = spawnStackwarden(configDir, { args: ['check'] });
  t.match(await checked.exited, { code: 1 });
  t.match(
    checked.stderr(),
    "the plugin wrong taps the hook 'process.statuss', which no loaded plugin has; 'process.status' is probably meant",
  );
  t.notMatch(checked.stdout() + checked.stderr(), 'the plugin right');
});

t.test('a plugin of the product may use names of plugins that are left out', async t => {
  const app = await startHost({ pluginDirs: [pluginsDir], plugins: ['process', 'config', 'notifications'] });
  t.teardown(() => app.stop());
  t.notMatch((await ownLog(app)).join('\n'), 'which no loaded plugin has');
});

t.test('no two names of the product are so similar that one is suggested for the other', async t => {
  const seams = await readSeams(fileURLToPath(new URL('../../..', import.meta.url)));
  for (const { kind, name } of seams) {
    const others = seams.filter(other => other.kind === kind && other.name !== name).map(other => other.name);
    t.equal(nearestWord(name, others), undefined, `${kind} ${name}`);
  }
});
