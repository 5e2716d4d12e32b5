// Checks that a program is made for this machine, and installs a program that is published without an archive.
import path from 'node:path';
import { Problem } from '#core';
import { runInDirectories } from '#kit/directory-command';
import { GuardedDirectory } from '#kit/guarded-directory';
import type { Architecture, FetchRequest } from '../installs/contract.ts';

const HEADER_BYTES = 20;
const MACHINE_PLACE = 18;
const ELF = Buffer.from('\x7fELF', 'latin1');
const SCRIPT = Buffer.from('#!');
/** The codes of the architectures in an ELF header. */
const MACHINES: Readonly<Record<Architecture, number>> = { amd64: 62, arm64: 183, arm: 40 };

/** Copies `file` to `name` in `into`, executable for all users. Throws a Problem 502 for a file that is no program. */
export async function placeProgram(
  file: string,
  name: string,
  { into, user, signal, architecture }: FetchRequest,
): Promise<void> {
  const header = await headerOf(file);
  if (!header.subarray(0, ELF.length).equals(ELF) && !header.subarray(0, SCRIPT.length).equals(SCRIPT))
    throw new Problem(502, `${path.basename(file)} is no program; choose another release`);
  checkMachine(header, path.basename(file), architecture);
  const from = await GuardedDirectory.open(path.dirname(file));
  const to = await GuardedDirectory.open(into);
  try {
    const args = ['-m', '0755', '--', `/proc/self/fd/3/${path.basename(file)}`, `/proc/self/fd/4/${name}`];
    await runInDirectories('install', args, { directories: [from, to], user, signal });
  } finally {
    from.close();
    to.close();
  }
}

/** Throws a Problem 502 when the file, which need not exist, is a program for another kind of machine. */
export async function checkProgram(file: string, architecture: Architecture): Promise<void> {
  const header = await headerOf(file).catch(() => Buffer.alloc(0));
  checkMachine(header, path.basename(file), architecture);
}

function checkMachine(header: Buffer, name: string, architecture: Architecture): void {
  if (header.length < HEADER_BYTES || !header.subarray(0, ELF.length).equals(ELF)) return;
  if (header.readUInt16LE(MACHINE_PLACE) === MACHINES[architecture]) return;
  throw new Problem(
    502,
    `${name} is a program for another kind of machine than ${architecture}; choose another release`,
  );
}

function headerOf(file: string): Promise<Buffer> {
  return GuardedDirectory.at(file, async (directory, name) => {
    const handle = await directory.openFile(name, 'read');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  });
}
