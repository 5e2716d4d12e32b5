// Programs for Bun, built with a stand-in for it.
import { chmod, mkdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { InstallRuntime } from '../../../plugins/installs/contract.ts';
import { buildRequest } from '../../support/build-request.ts';
import { testDir } from '../../support/directory.ts';
import { ownTools } from '../../support/own-tools.ts';
import { contributionOf } from '../../support/templates.ts';

const bun = await contributionOf<InstallRuntime>('runtime-bun', 'install.runtime');

t.test('Bun is found on PATH or in its own directory', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const useTools = ownTools(t, dir);
  await useTools({ bun: 'echo "bun $*" >> calls' });
  const request = buildRequest(dir, { calls: '' });
  await bun.check(request);
  await bun.build(request);
  t.equal(await readFile(path.join(request.directory, 'calls'), 'utf8'), 'bun install\nbun run --if-present build\n');

  const place = path.join(dir, 'own');
  await mkdir(place);
  await rename(path.join(process.env.PATH ?? '', 'bun'), path.join(place, 'bun'));
  const missing = {
    status: 400,
    message: /^App needs Bun, .*looked for in the directories of PATH\); install it from https:/,
  };
  await t.rejects(bun.check(request), missing);
  const other = buildRequest(dir, { calls: '' }, { facts: { places: [place], steps: [['bun', 'x']] } });
  await bun.check(other);
  await bun.build(other);
  t.equal(await readFile(path.join(other.directory, 'calls'), 'utf8'), 'bun x\n');
});
