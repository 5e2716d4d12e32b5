// Programs in Go, built with a stand-in for it.
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { InstallRuntime } from '../../../plugins/installs/contract.ts';
import { buildRequest } from '../../support/build-request.ts';
import { testDir } from '../../support/directory.ts';
import { ownTools } from '../../support/own-tools.ts';
import { contributionOf } from '../../support/templates.ts';

const go = await contributionOf<InstallRuntime>('runtime-go', 'install.runtime');

const tool = (version: string) => `
case $1 in
  version) echo 'go version go${version} linux/amd64';;
  *) echo "$* in $GOFLAGS" >> calls;;
esac`;

t.test('a missing or old Go is reported', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const useTools = ownTools(t, dir);
  await useTools({ go: tool('1.21.4') });
  const request = buildRequest(dir, { calls: '' });
  const calls = () => readFile(path.join(request.directory, 'calls'), 'utf8');
  await go.check(request);
  await go.build(request);
  t.equal(await calls(), 'build -trimpath -o ./ ./... in -modcacherw -p=1\n');
  await go.build(buildRequest(dir, { program: '' }, { facts: { unless: 'program' } }));
  await go.build(buildRequest(dir, {}, { facts: { when: ['go.mod'] } }));
  t.match(await calls(), /^.*\n$/, 'what is built, or of another layout, is left as it is');

  await useTools({ go: tool('1.19') });
  await t.rejects(go.check(request), {
    status: 400,
    message: /^App is built with Go 1\.21 or later, but this machine has 1\.19; install it from https:/,
  });
  await useTools({});
  await t.rejects(go.build(request), { status: 400, message: /which this machine does not have/ });
  await go.check(buildRequest(dir, {}, { facts: { unless: 'program' } }));
});
