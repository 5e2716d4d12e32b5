// Chooses the Python of this machine that creates the virtual environment of a program.
import { Problem } from '#core';
import { isAtLeast, toolLines, toolVersion } from '#kit/tool-version';
import type { BuildRequest } from '../installs/contract.ts';
import type { PythonFacts } from './facts.ts';

const HAS_VENV = 'import ensurepip, venv';

/** The command of the interpreter. Throws a Problem 400 that says what is missing. */
export async function findInterpreter(
  { block, isFromSources, ...asking }: Pick<BuildRequest, 'block' | 'isFromSources' | 'user' | 'signal'>,
  { version, sourceVersion }: PythonFacts,
): Promise<string> {
  const wanted = (isFromSources ? sourceVersion : undefined) ?? version;
  const candidates = [...(wanted === undefined ? [] : [`python${wanted}`]), 'python3'];
  let found: string | undefined;
  for (const candidate of candidates) {
    const there = await toolVersion([candidate, '--version'], asking);
    found = there ?? found;
    if (there === undefined || (wanted !== undefined && !isAtLeast(there, wanted))) continue;
    if ((await toolLines([candidate, '-c', HAS_VENV], asking)) !== undefined) return candidate;
    throw new Problem(
      400,
      `${block.processName} needs the module venv of ${candidate}, which this machine does not have; ` +
        `install it, on Debian and Ubuntu with apt-get install ${candidate}-venv`,
    );
  }
  const what = wanted === undefined ? 'Python 3' : `Python ${wanted} or later`;
  const has = found === undefined ? 'which this machine does not have' : `but this machine has ${found}`;
  throw new Problem(
    400,
    `${block.processName} needs ${what}, ${has}; install it, on Debian and Ubuntu with ` +
      `apt-get install ${candidates[0]} ${candidates[0]}-venv`,
  );
}
