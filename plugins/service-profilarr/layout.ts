// The two layouts in which Profilarr is installed. The first runs from its sources, the second is one program.
import { access } from 'node:fs/promises';
import path from 'node:path';
import { fileVersion } from '#kit/fs-out-of-process';
import type { ProgramContext } from '../setup/contract.ts';

export type Layout = 'v1' | 'v2';

const V1_SOURCE = 'backend/app/main.py';
const V2_PROGRAM = 'runtime/profilarr';
/** Places of the SQLite library on common systems; the program loads it by its path. */
const SQLITE_PLACES = [
  '/usr/lib/x86_64-linux-gnu/libsqlite3.so.0',
  '/usr/lib/aarch64-linux-gnu/libsqlite3.so.0',
  '/usr/lib64/libsqlite3.so.0',
  '/usr/lib/libsqlite3.so.0',
];

/** The installed layout; `v1` when nothing is installed. */
export async function layoutOf(directory: string): Promise<Layout> {
  const [source, program] = await Promise.all(
    [V1_SOURCE, V2_PROGRAM].map(file => fileVersion(path.join(directory, file))),
  );
  return source === null && program !== null ? 'v2' : 'v1';
}

/** Makes the plan start the second layout; variables that the user set in the block stay. */
export async function useProgram(
  { plan, block }: ProgramContext,
  directory: string,
  templateEnv: object,
): Promise<void> {
  const own = (block.block.env ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(templateEnv)) if (own[name] === value) delete plan.env[name];
  const data = path.join(directory, 'config');
  const sqlite = await firstOf(SQLITE_PLACES);
  const wanted = {
    APP_BASE_PATH: data,
    PORT: String(block.block.port),
    HOST: '0.0.0.0',
    HOME: data,
    XDG_CACHE_HOME: path.join(data, '.cache'),
    DENO_DIR: path.join(data, '.deno'),
    DENO_NO_UPDATE_CHECK: '1',
    ...(sqlite === undefined ? {} : { DENO_SQLITE_PATH: sqlite }),
  };
  for (const [name, value] of Object.entries(wanted)) if (!Object.hasOwn(own, name)) plan.env[name] = value;
  plan.argv = [path.join(directory, V2_PROGRAM)];
}

async function firstOf(files: readonly string[]): Promise<string | undefined> {
  const found = await Promise.allSettled(files.map(file => access(file)));
  return files.find((_file, index) => found[index]?.status === 'fulfilled');
}
