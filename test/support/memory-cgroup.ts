// Creates a cgroup with a limit of memory, of whichever cgroup version root can write here.
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from './until.ts';

const PLACES = [
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
] as const;

export interface MemoryCgroup {
  /** A command for `within` of `spawnStackwarden`: a shell that moves into the cgroup first. */
  readonly within: readonly string[];
  /** Resolves once the cgroup is empty and has been removed. */
  remove(): Promise<void>;
}

/** Resolves with undefined where no limit can be set. */
export async function limitMemory(bytes: number): Promise<MemoryCgroup | undefined> {
  for (const { root, limit } of PLACES) {
    const directory = path.join(root, `stackwarden-test-${process.pid}`);
    try {
      await mkdir(directory);
    } catch {
      continue;
    }
    const remove = () => until(() => rmdir(directory).then(() => true), { what: `${directory} to be empty` });
    try {
      await writeFile(path.join(directory, limit), String(bytes), { flag: 'r+' });
    } catch {
      await remove();
      continue;
    }
    const enter = `echo $$ > ${path.join(directory, 'cgroup.procs')} && exec "$@"`;
    return { within: ['sh', '-c', enter, 'sh'], remove: async () => void (await remove()) };
  }
  return undefined;
}
