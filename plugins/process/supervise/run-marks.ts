// The marks by which a process is known to be of a run: variables in its environment, which all descendants of a
// launched process inherit.
import { statSync } from 'node:fs';
import path from 'node:path';
import { type ProcessStat, readProc } from './proc-stat.ts';

/** What all descendants of a launched process inherit in their environment. */
export interface Marks {
  readonly runId: string;
  readonly processName: string;
  /** The directory in which the launch is recorded: several hosts may share one process table. */
  readonly directory: string;
}

const RUN_VARIABLE = 'STACKWARDEN_RUN_ID';
const NAME_VARIABLE = 'STACKWARDEN_PROCESS_NAME';
const DIRECTORY_VARIABLE = 'STACKWARDEN_RECORDED_IN';
const IDENTITY_VARIABLE = 'STACKWARDEN_RECORDED_AT';
const MAX_REMEMBERED = 20_000;
/** Longer than any run id. */
const MAX_ID_CHARACTERS = 100;

export function marksOf({ runId, processName, directory }: Marks): Record<string, string> {
  return {
    [RUN_VARIABLE]: runId,
    [NAME_VARIABLE]: processName,
    [DIRECTORY_VARIABLE]: directory,
    [IDENTITY_VARIABLE]: identityOf(directory),
  };
}

/**
 * Tells directories of the same path apart, because containers may share a process table. It is that of the parent,
 * which stays when the directory is removed with its records; blank when there is none.
 */
export function identityOf(directory: string): string {
  const entry = statSync(path.dirname(directory), { throwIfNoEntry: false });
  return entry === undefined ? '' : `${entry.dev}:${entry.ino}`;
}

/** The marks in the environment of a process; any program may have set them. Earlier hosts set no identity. */
export function marksAt(pid: number): { readonly [Name in keyof Marks | 'identity']: string | undefined } {
  const environment = environmentOf(pid);
  return {
    runId: environment.get(RUN_VARIABLE),
    processName: environment.get(NAME_VARIABLE),
    directory: environment.get(DIRECTORY_VARIABLE),
    identity: environment.get(IDENTITY_VARIABLE),
  };
}

function environmentOf(pid: number): ReadonlyMap<string, string> {
  const bytes = readProc(`/proc/${pid}/environ`) ?? '';
  // Most processes belong to no run.
  if (!bytes.includes(RUN_VARIABLE)) return new Map();
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return new Map(
    text.split('\0').map(entry => {
      const [name = ''] = entry.split('=', 1);
      return [name, entry.slice(name.length + 1)];
    }),
  );
}

/** Run ids by pid, cached because each check of a service would otherwise read the environment of every process. */
const runs = new Map<number, { readonly seen: ProcessStat; readonly runId: string | null }>();

/**
 * The id of the run that a process belongs to, or null. A process never leaves its run, but may enter one by an exec.
 */
export function runOf(stat: ProcessStat): string | null {
  const known = runs.get(stat.pid);
  if (known?.seen.startTime === stat.startTime) {
    if (known.runId !== null || known.seen.image === stat.image) return known.runId;
  }
  const prefix = `${RUN_VARIABLE}=`;
  const entry = readProc(`/proc/${stat.pid}/environ`)
    ?.split('\0')
    .find(text => text.startsWith(prefix));
  const runId = entry === undefined ? null : ownText(entry.slice(prefix.length));
  remember(stat, runId);
  return runId;
}

/** A copy of a run id; null for a text that is too long to be one, because any program can set the variable. */
function ownText(text: string): string | null {
  if (text.length > MAX_ID_CHARACTERS) return null;
  // A substring keeps the whole string in memory, and an environment may have megabytes.
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Forgets processes that have ended: services that run a program each second would leave thousands. */
export function forgetGone(living: readonly ProcessStat[]): void {
  if (runs.size <= living.length * 2) return;
  const pids = new Set(living.map(({ pid }) => pid));
  for (const pid of runs.keys()) if (!pids.has(pid)) runs.delete(pid);
}

function remember(seen: ProcessStat, runId: string | null): void {
  if (runs.size >= MAX_REMEMBERED) runs.clear();
  runs.set(seen.pid, { seen, runId });
}
