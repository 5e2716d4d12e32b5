// The machine's operating system, and Debian's name for its architecture.
import { readFile } from 'node:fs/promises';
import { Problem } from '#core';
import type { Architecture } from '../installs/contract.ts';

const RELEASE_FILE = '/etc/os-release';
const WORD = /^[a-z0-9][a-z0-9._-]*$/;
const ARCHITECTURES: Readonly<Record<Architecture, string>> = { amd64: 'amd64', arm64: 'arm64', arm: 'armhf' };

export interface SystemNames {
  readonly os_id: string;
  readonly codename: string;
}

export function debianArchitecture(architecture: Architecture): string {
  return ARCHITECTURES[architecture];
}

/** Id and code name of the operating system. Throws a Problem 400 when it names no release of Debian or Ubuntu. */
export async function systemNames(): Promise<SystemNames> {
  const lines = (await readFile(RELEASE_FILE, 'utf8').catch(() => '')).split('\n');
  const told = (name: string) => {
    const line = lines.find(candidate => candidate.startsWith(`${name}=`)) ?? '';
    return line
      .slice(name.length + 1)
      .replaceAll('"', '')
      .trim();
  };
  const names = { os_id: told('ID'), codename: told('VERSION_CODENAME') };
  if (Object.values(names).every(name => WORD.test(name))) return names;
  throw new Problem(
    400,
    `${RELEASE_FILE} names no release of Debian or Ubuntu, for which alone there are packages; install the program in another way`,
  );
}
