// Plugins that failed because another one had a name, or because of a cycle, are set up once the others have changed.
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const CLOCK = `host.provide('fixture.clock', { plugin: () => host.name })`;

async function start(t: Parameters<typeof startWithPlugins>[0], own: Parameters<typeof startWithPlugins>[1]) {
  const app = await startWithPlugins(t, own);
  const row = (name: string) => app.host.plugins().find(plugin => plugin.name === name);
  const folder = (name: string): string => row(name)?.folder ?? '';
  const write = (name: string, more: string, setup: string): Promise<void> =>
    writeFile(
      path.join(folder(name), 'index.js'),
      `export default { name: '${name}', host: '^1', ${more} setup (host) { ${setup} } }`,
    );
  const becomes = (name: string, state: string) =>
    until(() => row(name)?.state === state, { what: `${name} to be ${state}` });
  return { app, row, folder, write, becomes };
}

t.test('a plugin gets a name once its owner no longer uses it, or is gone', async t => {
  const { row, folder, write, becomes } = await start(t, {
    loser: { setup: CLOCK, more: "after: ['winner', 'third']," },
    third: { setup: CLOCK, more: "after: ['winner']," },
    winner: CLOCK,
  });
  const lost = { state: 'failed', reason: /service 'fixture.clock' of \w+ is already provided by winner/ };
  t.match(row('loser'), lost);
  t.match(row('third'), lost);
  await write('winner', '', '');
  await becomes('third', 'ready');
  t.match(row('loser'), { state: 'failed', reason: /provided by third/ }, 'one of two has it, by their order');
  await rm(folder('third'), { recursive: true });
  await becomes('loser', 'ready');
  t.match(row('loser'), { services: ['fixture.clock'], reason: null });
});

t.test('a plugin gets the file of a database once its owner no longer uses it', async t => {
  const file = path.join(testDir(t), 'shared', 'notes.sqlite');
  const database = `host.database('notes', { statements: 'index', file: '${file}' })`;
  const { row, write, becomes } = await start(t, {
    loser: { setup: database, more: "after: ['winner']," },
    winner: database,
  });
  t.match(row('loser'), { state: 'failed', reason: `the database ${file} of loser is already owned by winner` });
  await write('winner', '', '');
  await becomes('loser', 'ready');
});

t.test('an owner that fails, or is set up again, keeps its name', async t => {
  const { app, row, write, becomes } = await start(t, {
    loser: { setup: CLOCK, more: "after: ['winner']," },
    neighbour: '',
    winner: {
      setup: CLOCK,
      more: "config: z => z.object({ way: z.string().default('') }),",
    },
  });
  t.equal((await app.post('/config', { updates: { dumb: { winner: { way: 'other' } } } })).status, 200);
  await write('neighbour', "version: '2.0.0',", '');
  await until(() => row('neighbour')?.version === '2.0.0', { what: 'the change to be over' });
  t.match(row('winner'), { state: 'ready', services: ['fixture.clock'] });
  t.match(row('loser'), { state: 'failed', reason: /provided by winner/ });
  await write('winner', '', `${CLOCK}; throw new Error('half way')`);
  await becomes('winner', 'failed');
  await write('neighbour', "version: '3.0.0',", '');
  await until(() => row('neighbour')?.version === '3.0.0', { what: 'the change to be over' });
  t.match(row('loser'), { state: 'failed' });
  await write('winner', '', CLOCK);
  await becomes('winner', 'ready');
  t.match(row('loser'), { state: 'failed', reason: /provided by winner/ });
});

t.test('plugins of a cycle are set up when the cycle ends', async t => {
  const { row, write, becomes } = await start(t, {
    first: { setup: '', more: "needs: ['second']," },
    second: { setup: '', more: "needs: ['first']," },
    third: { setup: '', more: "needs: ['first']," },
  });
  t.match(row('first'), { state: 'failed', reason: /first -> second -> first/ });
  await write('second', '', '');
  for (const name of ['first', 'second', 'third']) await becomes(name, 'ready');
  t.equal(row('first')?.reason, null);
});

t.test('a plugin of the product wins over others, whatever their names', async t => {
  const route = `host.route({ method: 'GET', path: '/config', summary: 'Mine.', handle: () => ({ mine: true }) })`;
  const { app, row } = await start(t, { aardvark: route });
  t.match(row('aardvark'), { state: 'failed', reason: /GET \/config of aardvark is already registered by config/ });
  t.match(row('config'), { state: 'ready' });
  t.notMatch((await app.get('/config')).body, { mine: true });
});

t.test('a plugin that the configuration prefers wins over the product', async t => {
  const route = `host.route({ method: 'GET', path: '/logs', summary: 'Mine.', handle: () => ({ mine: true }) })`;
  const config = { dumb: { plugins: { override: ['zebra'] } } };
  const app = await startWithPlugins(t, { zebra: route }, { shipped: ['config', 'process', 'logs'], config });
  t.match((await app.get('/logs')).body, { mine: true });
  t.match(app.host.plugins().find(({ name }) => name === 'logs')?.reason, /already registered by zebra/);
});
