// Creates the virtual environment of a release, with everything that the release requires.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import type { BuildEnvironment } from '#kit/build-environment';
import { runSteps } from '#kit/build-steps';
import { toolLines } from '#kit/tool-version';
import type { BuildRequest } from '../installs/contract.ts';
import type { PythonFacts } from './facts.ts';

/** Replaces the folder's path in scripts of the environment by the final one, because the folder is moved later. */
const MOVE = `
import os, sys
venv, old, new = sys.argv[1], os.fsencode(sys.argv[2]), os.fsencode(sys.argv[3])
scripts = os.path.join(venv, 'bin')
for file in [os.path.join(scripts, name) for name in os.listdir(scripts)] + [os.path.join(venv, 'pyvenv.cfg')]:
    if os.path.islink(file) or not os.path.isfile(file):
        continue
    with open(file, 'rb') as opened:
        text = opened.read()
    if old in text:
        with open(file, 'wb') as opened:
            opened.write(text.replace(old, new))
`;

/** Throws an Error with the end of the output of the step that failed. */
export async function buildVenv(
  interpreter: string,
  facts: PythonFacts,
  request: BuildRequest,
  environment: BuildEnvironment,
): Promise<void> {
  const { venv, packages, poetry, steps = [] } = facts;
  const { directory, finalDirectory } = request;
  const place = path.join(directory, venv);
  const python = path.join(place, 'bin/python');
  const env = {
    PIP_CACHE_DIR: environment.cache('pip'),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    VIRTUAL_ENV: place,
    PATH: `${path.join(place, 'bin')}:${environment.path}`,
    ...facts.env,
  };
  await environment.run({ argv: [interpreter, '-m', 'venv', venv] });
  const pip = [python, '-m', 'pip', 'install'];
  if (poetry === true) await installByPoetry(interpreter, facts, request, environment, env);
  else
    for (const file of await requirementFiles(facts, request))
      await environment.run({ argv: [...pip, '-r', file], in: facts.in, env });
  if (packages.length > 0) await environment.run({ argv: [...pip, ...packages], env });
  await runSteps(environment, steps, { ...facts, env }, request.fill);
  await environment.run({ argv: [python, '-c', MOVE, place, directory, finalDirectory] });
}

/** The files of requirements that the release has. Throws a Problem 500 when it has none of them. */
async function requirementFiles({ requirements, in: folder = '.' }: PythonFacts, request: BuildRequest) {
  const { directory, block } = request;
  const there: string[] = [];
  for (const file of requirements) {
    const isThere = await stat(path.join(directory, folder, file)).then(
      () => true,
      () => false,
    );
    if (isThere) there.push(file);
  }
  if (there.length === 0 && requirements.length > 0) {
    const names = requirements.join(' or ');
    throw new Problem(500, `${block.processName} cannot be built: its release has no ${names}; choose another release`);
  }
  return there;
}

/** Poetry gets an environment of its own, because its own requirements may conflict with those of the release. */
async function installByPoetry(
  interpreter: string,
  { in: folder }: PythonFacts,
  request: BuildRequest,
  environment: BuildEnvironment,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  let poetry = 'poetry';
  if ((await toolLines([poetry, '--version'], request)) === undefined) {
    const own = path.join(environment.home, 'poetry');
    await environment.run({ argv: [interpreter, '-m', 'venv', own] });
    await environment.run({
      argv: [path.join(own, 'bin/python'), '-m', 'pip', 'install', 'poetry'],
      env: { PIP_CACHE_DIR: env.PIP_CACHE_DIR ?? '', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
    });
    poetry = path.join(own, 'bin/poetry');
  }
  const more = {
    POETRY_CACHE_DIR: environment.cache('poetry'),
    POETRY_INSTALLER_MAX_WORKERS: String(request.networkJobs),
  };
  await environment.run({
    argv: [poetry, 'install', '--no-root', '--only', 'main', '--no-interaction', '--no-ansi'],
    in: folder,
    env: { ...env, ...more },
  });
}
