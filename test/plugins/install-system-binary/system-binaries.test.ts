// Programs of the machine: where they are searched, and the message when there is none.
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { systemBinaries } from '../../../plugins/install-system-binary/system-binaries.ts';
import type { SourceRequest } from '../../../plugins/installs/contract.ts';
import { testDir } from '../../support/directory.ts';

const found = testDir(t, {
  bin: { tool: '' },
  lib: { 15: { bin: {} }, 16: { bin: { server: '' } } },
  apt: { 'apt-get': '' },
});
for (const file of ['bin/tool', 'lib/16/bin/server', 'apt/apt-get']) await chmod(path.join(found, file), 0o755);
await writeFile(path.join(found, 'bin/data'), 'not to be run');
const { PATH } = process.env;
t.teardown(() => {
  process.env.PATH = PATH;
});

const ask = (facts: object, { installed = null as string | null, searched = `${found}/bin` } = {}) => {
  process.env.PATH = searched;
  return systemBinaries.latest({
    facts,
    installedVersion: installed,
    fill: (text: string) => text,
  } as unknown as SourceRequest);
};

t.test('a program of the machine is used', async t => {
  t.equal((await ask({ program: 'tool' })).version, 'present');
  t.equal((await ask({ program: 'tool' }, { installed: '1.2' })).version, '1.2');
  t.equal((await ask({ program: `${found}/bin/tool` })).version, 'present');
  t.equal((await ask({ program: 'server', places: [`${found}/lib/*/bin`] })).version, 'present');
});

t.test('a missing program is named with the way to install it', async t => {
  const searched = `${found}/bin:${found}/apt`;
  const commands = ['python3 -m venv /venv', '/venv/bin/pip install it'];
  for (const [facts, message] of [
    [{ program: 'none' }, 'none is not on this machine; install it with the tools of this system, then start it again'],
    [
      { program: 'data', package: 'tools' },
      'data is not on this machine; install it as root with: apt-get install tools, then start it again',
    ],
    [
      { program: 'server', places: [`${found}/lib/*/sbin`, '/no/such/*/place'] },
      'server is not on this machine; install it with the tools of this system, then start it again',
    ],
    [
      { program: '/venv/bin/it', commands },
      '/venv/bin/it is not on this machine; make it with: python3 -m venv /venv && /venv/bin/pip install it, then start it again',
    ],
  ] as const)
    await t.rejects(ask(facts, { searched }), { status: 400, message });
  await t.rejects(ask({ program: 'none', package: 'tools' }), {
    message: /install the package of this system that Debian calls tools/,
  });
});
