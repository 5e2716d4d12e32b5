// Reads which interpreters the kernel runs in the place of a script: the one that its first line names, and where that
// is a script itself, the next.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { GuardedDirectory } from '#kit/guarded-directory';
import { localPlaces } from '#kit/local-place';

/** What the kernel reads of a file to find them. */
const HEAD_BYTES = 256;
const MAX_INTERPRETERS = 4;

/** None for what is no script, cannot be read, or lies on a mount that may not answer. */
export async function interpretersOf(program: string, cwd = '/'): Promise<string[]> {
  const isLocal = await localPlaces();
  const found: string[] = [];
  for (let place = program; found.length < MAX_INTERPRETERS && (await isLocal(place)); ) {
    const [, named] = /^#![ \t]*([^ \t\n\0]+)/.exec(await headOf(place).catch(() => '')) ?? [];
    if (named === undefined) break;
    place = path.resolve(cwd, named);
    found.push(place);
  }
  return found;
}

async function headOf(file: string): Promise<string> {
  return GuardedDirectory.at(await realpath(file), async (directory, name) => {
    const handle = await directory.openFile(name, 'read');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  });
}
