// Virtual environments made by the Python of this machine, from a wheel in the release.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { InstallRuntime } from '../../../plugins/installs/contract.ts';
import { buildRequest } from '../../support/build-request.ts';
import { testDir } from '../../support/directory.ts';
import { ownTools } from '../../support/own-tools.ts';
import { contributionOf } from '../../support/templates.ts';

const python = await contributionOf<InstallRuntime>('runtime-python', 'install.runtime');

const MAKE_WHEEL = `
import sys, zipfile
info = 'part-1.0.dist-info/'
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('part.py', 'import sys\\ndef main():\\n    print("part in " + sys.prefix)\\n')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: part\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'entry_points.txt', '[console_scripts]\\npart = part:main\\n')
    wheel.writestr(info + 'RECORD', ''.join(name + ',,\\n' for name in wheel.namelist()) + info + 'RECORD,,\\n')
`;

/** A directory in which any user can work. */
async function openDir(t: Test): Promise<string> {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  return dir;
}

t.test('a virtual environment works after it is moved', async t => {
  const dir = await openDir(t);
  const wheel = 'part-1.0-py3-none-any.whl';
  const files = { 'requirements.txt': `./${wheel}\n`, 'more/requirements.txt': '' };
  const request = buildRequest(dir, files, {
    facts: { version: '3.8', requirements: ['missing.txt', 'requirements.txt'], env: { PIP_NO_INDEX: '1' } },
  });
  execFileSync('/usr/bin/env', ['python3', '-c', MAKE_WHEEL, path.join(request.directory, wheel)]);
  await python.check(request);
  await python.build(request);
  t.ok(request.printed.some(line => line.startsWith('Successfully installed part-1.0')));
  await rename(request.directory, request.finalDirectory);
  const ran = execFileSync(path.join(request.finalDirectory, 'venv/bin/part'), { encoding: 'utf8' });
  t.equal(ran, `part in ${request.finalDirectory}/venv\n`, 'its scripts run where it lies now');
  t.notMatch(await readFile(path.join(request.finalDirectory, 'venv/pyvenv.cfg'), 'utf8'), /\/release\//);

  const without = buildRequest(dir, {}, { facts: { requirements: ['other.txt'] } });
  await t.rejects(python.build(without), {
    status: 500,
    message: 'App cannot be built: its release has no other.txt; choose another release',
  });
});

t.test('a fitting Python is found, and a missing one reported', async t => {
  const dir = await openDir(t);
  const useTools = ownTools(t, dir);
  const check = (facts: object, isFromSources = false) =>
    python.check(buildRequest(dir, {}, { facts: { ...facts }, isFromSources }));
  await useTools({ 'python3.12': '', python3: 'exit 1' }, 'Python 3.12.4');
  await check({ version: '3.12' });
  await t.rejects(check({ version: '3.11' }), {
    status: 400,
    message: /^App needs the module venv of python3, .* apt-get install python3-venv$/,
  });
  await useTools({ python3: '' }, 'Python 3.11.2');
  await check({ version: '3.11', sourceVersion: '3.13' });
  await t.rejects(check({ version: '3.11', sourceVersion: '3.13' }, true), {
    status: 400,
    message: /^App needs Python 3\.13 or later, but this machine has 3\.11\.2; .* apt-get install python3\.13 python3/,
  });
  await useTools({});
  await t.rejects(check({}), { message: /^App needs Python 3, which this machine does not have; install it/ });
});

t.test('what pyproject.toml requires is left to poetry', async t => {
  const dir = await openDir(t);
  const useTools = ownTools(t, dir);
  const makeVenv = 'mkdir -p "$3/bin"; echo "#!/bin/sh" > "$3/bin/python"; chmod +x "$3/bin/python"';
  await useTools({
    python3: `if [ "$2" = venv ]; then ${makeVenv}; fi`,
    poetry: 'echo "$VIRTUAL_ENV $*" > poetry.txt',
  });
  const request = buildRequest(dir, { 'poetry.txt': '' }, { facts: { poetry: true, venv: 'env' } });
  await python.build(request);
  t.equal(
    await readFile(path.join(request.directory, 'poetry.txt'), 'utf8'),
    `${request.directory}/env install --no-root --only main --no-interaction --no-ansi\n`,
  );
  t.ok(existsSync(path.join(request.directory, 'env/bin/python')));
});
