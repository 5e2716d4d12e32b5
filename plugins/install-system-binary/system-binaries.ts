// Finds programs that must be installed on the machine already, and says how to get one that is missing.
import { access, constants, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import type { InstallSource, SourceRequest } from '../installs/contract.ts';
import { type SystemFacts, systemFacts } from './system-facts.ts';

/** Reported as the version, because the program is not run to ask for it. */
const UNKNOWN_VERSION = 'present';

export const systemBinaries: InstallSource = {
  source: 'system-binary',

  async latest(request) {
    return { version: await presentVersion(request), notesUrl: null, releasesBehind: null };
  },

  async fetch(request) {
    return { version: await presentVersion(request) };
  },

  // The program is on the machine already.
  place: async () => undefined,
};

/** Throws a Problem 400 that says how to get the program when it is missing. */
async function presentVersion({ facts: given, installedVersion, fill }: SourceRequest): Promise<string> {
  const facts = systemFacts.parse(given);
  const program = fill(facts.program);
  const directories = (process.env.PATH ?? '').split(':').filter(Boolean);
  const places = path.isAbsolute(program) ? [''] : [...directories, ...(await directoriesOf(facts.places ?? []))];
  for (const place of places)
    if (await isProgram(path.join(place, program))) return installedVersion ?? UNKNOWN_VERSION;
  throw new Problem(400, `${program} is not on this machine; ${await remedy(facts, directories)}, then start it again`);
}

async function directoriesOf(patterns: readonly string[]): Promise<string[]> {
  const found = await Promise.all(patterns.map(pattern => matches('/', pattern.split('/').filter(Boolean))));
  return found.flat();
}

/** The directories below `directory` that match the parts of a pattern. */
async function matches(directory: string, [part, ...others]: readonly string[]): Promise<string[]> {
  if (part === undefined) return [directory];
  const names = part === '*' ? await readdir(directory).catch(() => []) : [part];
  return (await Promise.all(names.map(name => matches(path.join(directory, name), others)))).flat();
}

async function remedy({ package: name, commands }: SystemFacts, directories: readonly string[]): Promise<string> {
  if (commands !== undefined) return `make it with: ${commands.join(' && ')}`;
  if (name === undefined) return 'install it with the tools of this system';
  const hasApt = await Promise.all(directories.map(directory => isProgram(path.join(directory, 'apt-get'))));
  return hasApt.includes(true)
    ? `install it as root with: apt-get install ${name}`
    : `install the package of this system that Debian calls ${name}`;
}

async function isProgram(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  if (found?.isFile() !== true) return false;
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
