// Writes a plan into the working directory, which must be empty and not in use otherwise. Each file is new, and links
// come last, so that nothing is written through a link.
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import type { Budget } from './budget.ts';
import type { ArchiveReader, ContentSink } from './entry.ts';
import type { Plan } from './plan.ts';
import { ArchiveRefusal } from './refusal.ts';

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const ANYBODY_RUNS = 0o111;
const DIRECTORY_MODE = 0o755;

/** `wrote` is called with the bytes of each piece. */
export async function write(
  plan: Plan,
  readers: readonly ArchiveReader[],
  budget: Budget,
  wrote: (bytes: number) => void,
): Promise<void> {
  for (const directory of plan.directories) mkdirSync(directory, DIRECTORY_MODE);
  const wanted = readers.map(() => new Map<number, { places: readonly string[]; mode: number; bytes: number }>());
  for (const [{ archive, index, mode, bytes }, places] of plan.files)
    wanted[archive]?.set(index, { places, mode, bytes });
  for (const [archive, reader] of readers.entries()) {
    const rest = wanted[archive];
    if (rest === undefined || rest.size === 0) continue;
    await reader.each(budget, ({ index, bytes }) => {
      const file = rest.get(index);
      if (file === undefined) return undefined;
      if (file.bytes !== bytes) throw new ArchiveRefusal('it was changed meanwhile');
      rest.delete(index);
      return fileSink(file.places, file, wrote);
    });
    if (rest.size > 0) throw new ArchiveRefusal('it was changed meanwhile');
  }
  for (const { path, target } of plan.links) symlinkSync(target, path);
}

/** Removes everything that was written. */
export function unwrite(): void {
  for (const name of readdirSync('.')) rmSync(name, { recursive: true, force: true });
}

function fileSink(
  [first = '', ...others]: readonly string[],
  { mode, bytes }: { readonly mode: number; readonly bytes: number },
  wrote: (bytes: number) => void,
): ContentSink {
  const permissions = (mode & ANYBODY_RUNS) === 0 ? 0o644 : 0o755;
  const descriptor = openSync(first, NEW, permissions);
  fchmodSync(descriptor, permissions);
  let done = 0;
  return {
    write(piece) {
      for (let start = 0; start < piece.length; ) start += writeSync(descriptor, piece, start);
      done += piece.length;
      wrote(piece.length);
    },
    end() {
      closeSync(descriptor);
      if (done !== bytes) throw new ArchiveRefusal('it ends too early');
      for (const other of others) {
        copyFileSync(first, other, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
        wrote(bytes);
      }
    },
  };
}
