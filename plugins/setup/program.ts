// Checks that the program of a service exists, and tells how to get it when it does not.
import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import { requireAnswer } from '#kit/answering';
import type { LaunchPlan } from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';

const SCRIPT = /\.(c?js|mjs|py|sh)$/;
/**
 * Matches an option that is followed by a program text, which may end with the name of a file: `sh -c`, `bash -lc`,
 * `python -c`.
 */
const BEFORE_TEXT = /^-[A-Za-z]*c$/;

/** Throws a Problem 400 that names the program, where it was searched for, and where it usually comes from. */
export async function checkProgram({ processName, argv, cwd, env }: LaunchPlan, template: ServiceTemplate) {
  const [program] = argv;
  if (program === undefined || program === '') return;
  // Interpreters exist on most machines, so a missing script is the more likely fault.
  const textAt = argv.findIndex(argument => BEFORE_TEXT.test(argument));
  const files = argv.slice(1, textAt < 0 ? undefined : textAt);
  const script = files.find(argument => SCRIPT.test(argument) && !argument.startsWith('-'));
  const named = [program, script].filter(word => word?.includes('/') === true);
  await requireAnswer(named.map(word => path.resolve(cwd ?? '/', word ?? '')));
  const directories = (env.PATH ?? '').split(':').filter(Boolean);
  const candidates = program.includes('/')
    ? [path.resolve(cwd ?? '/', program)]
    : directories.map(directory => path.join(directory, program));
  if (!(await anyExecutable(candidates))) {
    const looked = program.includes('/') ? '' : ` (looked for in ${directories.join(', ')})`;
    throw missing(processName, `the program ${program}${looked}`, template);
  }
  if (script === undefined) return;
  const file = path.resolve(cwd ?? '/', script);
  if (!(await exists(file))) throw missing(processName, `the program ${file}`, template);
}

function missing(processName: string, what: string, { program }: ServiceTemplate): Problem {
  const source = program === undefined ? '' : `; it is usually obtained from ${program.from}`;
  return new Problem(400, `${processName} cannot start: ${what} is not installed${source}`);
}

async function anyExecutable(files: readonly string[]): Promise<boolean> {
  const found = await Promise.all(
    files.map(
      async file =>
        (await exists(file)) &&
        access(file, constants.X_OK).then(
          () => true,
          () => false,
        ),
    ),
  );
  return found.includes(true);
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    found => found.isFile(),
    () => false,
  );
}
