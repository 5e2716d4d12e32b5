// Names under which no new plugin is made, because none could be loaded, and what is said of one that is made.
import { readdir } from 'node:fs/promises';
import t from 'tap';
import { createPlugin } from '../../../core/cli/create-plugin.ts';
import { testDir } from '../../support/directory.ts';
import { spawnStackwarden } from '../../support/stackwarden.ts';

t.test('impossible names are refused, and nothing is written', async t => {
  const dir = testDir(t, {});
  for (const [name, message] of [
    ['process', /process is a plugin of Stackwarden, which would be loaded instead; choose another name/],
    ['A', /'A' is no name/],
  ] as const)
    await t.rejects(createPlugin(name, dir), { message });
  t.same(await readdir(dir), []);
});

t.test('it says whether the plugin lies where it is loaded', async t => {
  const configDir = testDir(t);
  const create = async (...args: string[]) => {
    const run = spawnStackwarden(configDir, { args: ['create-plugin', ...args] });
    t.equal((await run.exited).code, 0);
    return run.stdout();
  };
  t.match(await create('one-more'), /one-more was made; a host that runs on .* loads it at once/);
  t.match(await create('other', '--into', `${configDir}/plugins`), /loads it at once/);
  t.match(await create('third', '--into', `${configDir}/elsewhere`), /once it lies in .*, or dumb.plugins.dirs names/);
});
