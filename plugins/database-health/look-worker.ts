// The program that looks at files of services, so that a file system that hangs makes only this program hang. It
// answers one request after the other and reports each result at once. Logs are read with the host's rights through
// directories that it holds open; databases with the rights of the service's user, because SQLite follows links
// beside its file.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { reasonText } from '#kit/error-text';
import { readMounts } from '#kit/mountinfo';
import type { DatabaseFacts } from './contract.ts';
import { type LogToLook, lookAtLog } from './log-search.ts';
import type { LogLook } from './log-signals.ts';
import { insideOf, loadSqlite } from './sqlite-inside.ts';
import { Storages } from './storages.ts';

/** How a store is looked at: a file from outside, a SQLite database from inside, or a directory with all its files. */
export type LookKind = 'file' | 'sqlite' | 'directory';

export interface StoreToLook {
  readonly role: string;
  readonly kind: LookKind;
  readonly files: readonly string[];
  readonly below: string | null;
}

/** The argument that the program is started with. It never regains rights that it has given up. */
export interface LookRights {
  /** The user whose rights the program takes on; null keeps the host's. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly opensSqlite: boolean;
}

export type LookRequest = { readonly log: LogToLook } | { readonly stores: readonly StoreToLook[] };

export type LookResult =
  | { readonly log: LogLook }
  | { readonly store: number; readonly facts: readonly DatabaseFacts[]; readonly isComplete: boolean }
  /** The program has started. */
  | { readonly isReady: true }
  /** All results of the request have been reported. */
  | { readonly isOver: true };

const MAX_COUNTED_FILES = 5_000;
const MAX_FOUND_FILES = 32;
const MAX_FOUND_DIRECTORIES = 256;
const DATABASE_NAME = /\.(?:db|sqlite3?)$/i;

await giveUpRights(JSON.parse(process.argv[2] ?? '') as LookRights);
tell({ isReady: true });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as LookRequest;
  if ('log' in request) tell({ log: await lookAtLog(request.log) });
  else await lookAtStores(request.stores);
  tell({ isOver: true });
}

async function giveUpRights({ user, opensSqlite }: LookRights): Promise<void> {
  // The library is loaded now, because the service's user may not be allowed to read its files.
  if (opensSqlite) await loadSqlite();
  if (user === null) return;
  process.setgroups?.([]);
  process.setgid?.(user.gid);
  process.setuid?.(user.uid);
}

async function lookAtStores(stores: readonly StoreToLook[]): Promise<void> {
  const storages = new Storages(await readMounts());
  const looked = stores.map((store, index) => {
    const facts = factsOf(store, storages);
    tell({ store: index, facts, isComplete: store.kind !== 'sqlite' });
    return facts;
  });
  for (const [store, { kind }] of stores.entries()) {
    if (kind !== 'sqlite') continue;
    const facts: DatabaseFacts[] = [];
    for (const outside of looked[store] ?? []) facts.push({ ...outside, ...(await insideOf(outside)) });
    tell({ store, facts, isComplete: true });
  }
}

function tell(result: LookResult): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** What the file system tells about one database, or about those below a directory. */
function factsOf({ role, kind, files, below }: StoreToLook, storages: Storages): DatabaseFacts[] {
  const place = below ?? files.find(isPresent) ?? files[0] ?? '';
  try {
    if (below === null) return [outsideOf(role, place, kind, storages)];
    const { found, isCut } = databasesBelow(below);
    const facts = found.map(file => outsideOf(path.relative(below, file), file, kind, storages));
    if (facts.length === 0) return [{ role, path: below, exists: false, error: 'There is no database in it' }];
    return isCut ? facts.map(fact => ({ ...fact, notice: 'There are more databases than are looked at' })) : facts;
  } catch (error) {
    return [{ role, path: place, exists: null, error: reasonText(error) }];
  }
}

/** Whether a file exists; true also if that may not be looked up. */
function isPresent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function outsideOf(role: string, file: string, kind: LookKind, storages: Storages): DatabaseFacts {
  const known = { role, path: file, enhancedProbe: false };
  const entry = statSync(file, { throwIfNoEntry: false });
  if (entry === undefined) return { ...known, exists: false, error: 'It does not exist' };
  const storage = storages.of(file);
  const place = storage === undefined ? known : { ...known, storage };
  if (kind === 'directory' ? !entry.isDirectory() && !entry.isFile() : !entry.isFile())
    return { ...place, exists: false, error: `It is no ${kind === 'directory' ? 'directory' : 'regular file'}` };
  if (entry.isDirectory()) return { ...place, exists: true, storeKind: 'directory', ...contentOf(file) };
  const seen = { ...place, exists: true, storeKind: 'file', sizeBytes: entry.size };
  if (kind !== 'sqlite' && kind !== 'file') return seen;
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
  const shm = statSync(`${file}-shm`, { throwIfNoEntry: false });
  return {
    ...seen,
    ...(wal === undefined ? {} : { walSizeBytes: wal.size }),
    ...(shm === undefined ? {} : { shmSizeBytes: shm.size }),
  };
}

/** Sums the files of a directory. No link is followed. */
function contentOf(directory: string): { fileCount: number; sizeBytes: number; scanTruncated: boolean } {
  let [fileCount, sizeBytes] = [0, 0];
  const rest = [directory];
  for (let place = rest.pop(); place !== undefined; place = rest.pop())
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      const inside = path.join(place, entry.name);
      if (entry.isDirectory()) rest.push(inside);
      if (!entry.isFile()) continue;
      if (fileCount >= MAX_COUNTED_FILES) return { fileCount, sizeBytes, scanTruncated: true };
      fileCount += 1;
      sizeBytes += statSync(inside, { throwIfNoEntry: false })?.size ?? 0;
    }
  return { fileCount, sizeBytes, scanTruncated: false };
}

function databasesBelow(directory: string): { found: readonly string[]; isCut: boolean } {
  const found: string[] = [];
  const directories = [directory];
  for (const place of directories) {
    const entries = statSync(place, { throwIfNoEntry: false }) && readdirSync(place, { withFileTypes: true });
    for (const entry of entries ?? []) {
      const inside = path.join(place, entry.name);
      if (entry.isDirectory() && directories.length < MAX_FOUND_DIRECTORIES) directories.push(inside);
      if (entry.isFile() && DATABASE_NAME.test(entry.name)) found.push(inside);
    }
  }
  found.sort();
  return { found: found.slice(0, MAX_FOUND_FILES), isCut: found.length > MAX_FOUND_FILES };
}
