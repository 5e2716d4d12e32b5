// Programs for .NET, built with a stand-in for its SDK.
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { InstallRuntime } from '../../../plugins/installs/contract.ts';
import { buildRequest } from '../../support/build-request.ts';
import { testDir } from '../../support/directory.ts';
import { ownTools } from '../../support/own-tools.ts';
import { contributionOf } from '../../support/templates.ts';

const dotnet = await contributionOf<InstallRuntime>('runtime-dotnet', 'install.runtime');

const SDK = `
case $1 in
  --list-sdks) echo '8.0.400 [/usr/share/dotnet/sdk]'; echo '10.0.100 [/usr/share/dotnet/sdk]';;
  *) echo "$* $MSBUILDDISABLENODEREUSE" >> calls;;
esac`;

t.test('a missing or old SDK is reported', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const useTools = ownTools(t, dir);
  await useTools({ dotnet: SDK });
  const steps = [['dotnet', 'publish', 'src/App', '-o', 'app']];
  const request = buildRequest(dir, { calls: '' }, { facts: { version: 10, steps } });
  await dotnet.check(request);
  await dotnet.build(request);
  t.equal(await readFile(path.join(request.directory, 'calls'), 'utf8'), 'publish src/App -o app 1\n');
  await t.rejects(dotnet.check(buildRequest(dir, {}, { facts: { version: 11 } })), {
    status: 400,
    message:
      /^App is built with the \.NET SDK 11 or later, but this machine has 8\.0\.400, 10\.0\.100; install it from/,
  });
  await useTools({});
  await t.rejects(dotnet.check(request), { message: /the \.NET SDK 10 or later, which this machine does not have/ });
});
