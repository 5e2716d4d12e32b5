// Names that create-plugin refuses, because a plugin of that name could not be loaded.
import { readdir } from 'node:fs/promises';
import t from 'tap';
import { createPlugin } from '../../../core/cli/create-plugin.ts';
import { testDir } from '../../support/directory.ts';

t.test('impossible names are refused, and nothing is written', async t => {
  const dir = testDir(t, {});
  for (const [name, message] of [
    ['process', /process is a plugin of Stackwarden, which would be loaded instead; choose another name/],
    ['A', /'A' is no name/],
  ] as const)
    await t.rejects(createPlugin(name, dir), { message });
  t.same(await readdir(dir), []);
});
