// Trees of links for tests, outside of the project's directory.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { mountMemory } from './directory.ts';
import type { TestHost } from './host.ts';
import { until } from './until.ts';

/** The entries of a tree from which on it is put into memory where possible. */
const MANY = 300;

/** An object is a directory, an object with `to` a link, a text a file. */
export interface Tree {
  readonly [name: string]: Tree | LinkTo | string;
}

interface LinkTo {
  readonly to: string;
}

/** The real path of a new directory, which is removed with the test. */
export function linkDir(t: Test, tree: Tree = {}): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'stackwarden-links-')));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  if (sizeOf(tree) >= MANY) mountMemory(t, directory);
  plant(directory, tree);
  return directory;
}

function sizeOf(tree: Tree): number {
  return Object.values(tree).reduce<number>(
    (sum, entry) => sum + 1 + (typeof entry === 'string' || typeof entry.to === 'string' ? 0 : sizeOf(entry as Tree)),
    0,
  );
}

export function plant(directory: string, tree: Tree): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, entry] of Object.entries(tree)) {
    const place = path.join(directory, name);
    if (typeof entry === 'string') writeFileSync(place, entry);
    else if (typeof entry.to === 'string') symlinkSync(entry.to, place);
    else plant(place, entry as Tree);
  }
}

/** Every entry with its kind, owner and target as find(1) prints them, without modes and times. */
export function found(directory: string): string {
  const args = [directory, '-printf', '%P\\t%y\\t%U:%G\\t%l\\0'];
  return execFileSync('find', args, { encoding: 'latin1', maxBuffer: 1 << 30 })
    .split('\0')
    .sort()
    .join('\n');
}

/** The targets of all links below a directory, by path in it, as find(1) prints them. */
export function linksOf(directory: string): Map<string, string> {
  const args = [directory, '-type', 'l', '-printf', '%P\\0%l\\0'];
  const texts = execFileSync('find', args, { encoding: 'latin1', maxBuffer: 1 << 30 }).split('\0');
  const pairs = Array.from({ length: (texts.length - 1) / 2 }, (_, index) => texts.slice(2 * index, 2 * index + 2));
  return new Map(pairs.sort() as [string, string][]);
}

/** The job once it has ended. */
export function endedJob(host: Pick<TestHost, 'get'>, id: string) {
  return until(async () => {
    const { body } = await host.get(`/process/symlink-job-status?job_id=${id}`);
    return body.status === 'completed' || body.status === 'error' ? body : undefined;
  });
}
