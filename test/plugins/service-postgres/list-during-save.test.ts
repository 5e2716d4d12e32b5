// A database that a service registers while a save of the whole list is being checked: neither undoes the other.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

/** Holds back the first save until the registration, which waits for that save, has begun. */
const SLOW = `
  let tellSaves, tellRegisters;
  const saves = new Promise(resolve => { tellSaves = resolve; });
  const registers = new Promise(resolve => { tellRegisters = resolve; });
  host.tap('config.check', () => {
    tellSaves();
    return registers;
  });
  host.route({
    method: 'POST',
    path: '/fixture/register',
    access: 'public',
    async handle() {
      await saves;
      const registered = host.use('postgres.server').register('of-service');
      tellRegisters();
      await registered;
      return {};
    },
  });`;

t.test('a list that is saved and registered in at once', async t => {
  const database = (name: string) => ({ name, enabled: true });
  const app = await startWithPlugins(
    t,
    { slow: { setup: SLOW, more: "after: ['service-postgres']," } },
    { shipped: ['config', 'process', 'services', 'service-postgres'], config: { postgres: { databases: [] } } },
  );
  const saved = app.post('/config', { updates: { postgres: { databases: [database('of-user')] } } });
  const registered = app.post('/fixture/register', {});
  t.equal((await saved).status, 200);
  t.equal((await registered).status, 200);
  const names = (root: { postgres: { databases: { name: string }[] } }) =>
    root.postgres.databases.map(({ name }) => name).sort();
  t.same(names((await app.get('/config')).body), ['of-service', 'of-user']);
  t.same(names(JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'))), [
    'of-service',
    'of-user',
  ]);
});
