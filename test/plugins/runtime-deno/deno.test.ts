// Programs for Deno, built with a stand-in for it.
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { InstallRuntime } from '../../../plugins/installs/contract.ts';
import { buildRequest } from '../../support/build-request.ts';
import { testDir } from '../../support/directory.ts';
import { ownTools } from '../../support/own-tools.ts';
import { contributionOf } from '../../support/templates.ts';

const deno = await contributionOf<InstallRuntime>('runtime-deno', 'install.runtime');

t.test('a missing or old Deno is reported', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const useTools = ownTools(t, dir);
  await useTools({ deno: 'echo "deno $*" >> calls' }, 'deno 2.5.6');
  const asking = (image: string) => buildRequest(dir, { calls: '', Dockerfile: `# x\nFROM ${image} AS builder\n` });
  const request = asking('denoland/deno:alpine-2.5');
  await deno.check(request);
  await deno.build(request);
  t.equal(await readFile(path.join(request.directory, 'calls'), 'utf8'), 'deno install\ndeno task build\n');
  await t.rejects(deno.build(asking('docker.io/denoland/deno:2.6.1')), {
    status: 400,
    message: /^App is built with Deno 2\.6\.1 or later, but this machine has 2\.5\.6; install it from https:/,
  });
  const other = { facts: { when: ['deno.json', 'deno.jsonc'] } };
  await deno.build(buildRequest(dir, {}, other));
  await useTools({});
  await t.rejects(deno.check(request), { status: 400, message: /built with Deno, which this machine does not have/ });
  await deno.check(buildRequest(dir, {}, other));
  await t.rejects(deno.build(buildRequest(dir, { 'deno.jsonc': '' }, other)), {
    message: /built with Deno 2\.6\.1 or later, which/,
  });
});
