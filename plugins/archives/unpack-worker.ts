// The program that unpacks: it inherits the directory and the archives, reads its task from the first line of its
// standard input, and reports in lines of JSON. It also ends when the program that started it ends.
import { createInterface } from 'node:readline';
import { errorText } from '#kit/error-text';
import { ArchiveRefusal, NoRoom, NoUnpacker } from './refusal.ts';
import { DIRECTORY_DESCRIPTOR, type UnpackLine, type UnpackTask } from './task.ts';
import { unpackHere } from './unpack-here.ts';

const ALIVE_MS = 5_000;

const input = createInterface({ input: process.stdin });
input.once('line', line => void main(JSON.parse(line) as UnpackTask));
input.once('close', () => process.exit(1));
setInterval(() => tell({ alive: true }), ALIVE_MS);

async function main(task: UnpackTask): Promise<void> {
  process.umask(0o022);
  try {
    // Paths below `/proc/self/fd` cannot be used any more once the rights are given up.
    process.chdir(`/proc/self/fd/${DIRECTORY_DESCRIPTOR}`);
    if (task.user !== null) become(task.user);
    const descriptors = Array.from({ length: task.archives }, (_, index) => DIRECTORY_DESCRIPTOR + 1 + index);
    end({ unpacked: await unpackHere(task, descriptors, progress => tell({ progress })) });
  } catch (error) {
    end(failureOf(error));
  }
}

function failureOf(error: unknown): UnpackLine {
  if (error instanceof ArchiveRefusal) return { refusal: error.message, archive: error.archive ?? 0 };
  if (error instanceof NoUnpacker) return { noUnpacker: error.message };
  return error instanceof NoRoom ? { noRoom: error.message } : { fault: errorText(error) };
}

function become({ uid, gid }: { readonly uid: number; readonly gid: number }): void {
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

function tell(line: UnpackLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function end(line: UnpackLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`, () => process.exit(0));
}
