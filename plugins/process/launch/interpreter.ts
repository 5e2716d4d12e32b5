// Finds the interpreters of a script: the one that its first line names, the program that this one runs if it is
// env(1), and the interpreters of these if they are scripts themselves.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { GuardedDirectory } from '#kit/guarded-directory';
import { localPlaces } from '#kit/local-place';
import { splitCommand } from './command-words.ts';

/** How much of a file the kernel reads to find its interpreter. */
const HEAD_BYTES = 256;
const MAX_INTERPRETERS = 4;
/** The option of env(1) by which a first line can have more than one word behind it. */
const SPLIT = /^(?:-v*S|--split-string=)/;
const ASSIGNMENT = /^[^=]+=/;

export interface Interpreter {
  /** The name as it is written in the first line. */
  readonly name: string;
  /** The files that it may stand for; the first that can be run counts. */
  readonly places: readonly string[];
}

/** `directories` are those in which programs are looked for by name. */
export interface Around {
  readonly cwd: string | undefined;
  readonly directories: readonly string[];
}

/** Empty for a file that is no script, cannot be read, or lies on a mount that may not answer. */
export async function interpretersOf(program: string, { cwd = '/', directories }: Around): Promise<Interpreter[]> {
  const isLocal = await localPlaces();
  const found: Interpreter[] = [];
  for (let place = program; found.length < MAX_INTERPRETERS && (await isLocal(place)); ) {
    const [, name, argument = ''] = /^#![ \t]*([^ \t\n\0]+)([^\n\0]*)/.exec(await headOf(place).catch(() => '')) ?? [];
    if (name === undefined) break;
    place = path.resolve(cwd, name);
    found.push({ name, places: [place] });
    if (path.basename(name) !== 'env') continue;
    const run = runByEnv(argument.trim(), { cwd, directories });
    if (run === undefined) break;
    found.push(run);
    const [first, ...others] = run.places;
    // Which of several files is run depends on what the user of the service can reach.
    if (first === undefined || others.length > 0) break;
    place = first;
  }
  return found;
}

/** The program that env(1) runs with this argument; undefined when it depends on more than the first line. */
function runByEnv(argument: string, { cwd, directories }: Required<Around>): Interpreter | undefined {
  const [split] = SPLIT.exec(argument) ?? [];
  const words = split === undefined ? [argument] : wordsOf(argument.slice(split.length));
  const name = words.find(word => !ASSIGNMENT.test(word));
  if (name === undefined || name === '' || name.startsWith('-') || words.some(isOpen)) return undefined;
  if (name.includes('/')) return { name, places: [path.resolve(cwd ?? '/', name)] };
  return { name, places: directories.map(directory => path.join(directory, name)) };
}

/** Whether the program depends on this word: by a variable in it, or because it sets another PATH. */
function isOpen(word: string): boolean {
  return word.includes('$') || word.startsWith('PATH=');
}

function wordsOf(text: string): string[] {
  try {
    return splitCommand(text);
  } catch {
    return [];
  }
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
