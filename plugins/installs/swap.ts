// Swaps one release for another by renaming, and reverts that. Kept places are never moved. Each step can be repeated
// after a crash, because a file that a step moves is always either at its old or at its new place.
import path from 'node:path';
import { Problem } from '#core';
import type { FileOwner, GuardedDirectory, Making } from '#kit/guarded-directory';
import type { Swap } from './folder-records.ts';

/** The directory in the folder of a service that holds all releases but the present one. */
export const WORK = '.stackwarden';

export interface KeptPlaces {
  /** Paths below the folder that stay as they are, even when the release contains them. */
  readonly keeps: ReadonlySet<string>;
  /** Whether everything else is removed, and not only what the release replaces. */
  readonly clears: boolean;
}

/** The places that a swap moves out of the folder and into it. Throws a Problem 409 on a conflict with kept places. */
export async function planSwap(
  folder: GuardedDirectory,
  incoming: string,
  kept: KeptPlaces,
): Promise<Pick<Swap, 'outs' | 'ins'>> {
  const plan = new SwapPlan(folder, incoming, kept);
  await plan.walk('');
  return { outs: plan.outs, ins: plan.ins };
}

class SwapPlan {
  readonly outs: string[] = [];
  readonly ins: string[] = [];
  readonly #folder: GuardedDirectory;
  readonly #incoming: string;
  readonly #kept: KeptPlaces;
  /** The directories above kept places. They stay, and are compared place by place. */
  readonly #ancestors: ReadonlySet<string>;

  constructor(folder: GuardedDirectory, incoming: string, kept: KeptPlaces) {
    this.#folder = folder;
    this.#incoming = incoming;
    this.#kept = kept;
    this.#ancestors = new Set([...kept.keeps].flatMap(ancestorsOf));
  }

  async walk(directory: string): Promise<void> {
    const present = new Set(await namesAt(this.#folder, directory));
    const next = new Set(await namesAt(this.#folder, path.join(WORK, this.#incoming, directory)));
    for (const name of new Set([...present, ...next]))
      await this.#visit(path.join(directory, name), present.has(name), next.has(name));
  }

  async #visit(place: string, isPresent: boolean, isNext: boolean): Promise<void> {
    const { keeps, clears } = this.#kept;
    if (place === WORK && isNext)
      throw new Problem(409, `the release has a folder ${WORK} of its own; choose another release`);
    if (place === WORK || (isPresent && keeps.has(place))) return;
    if (isPresent && this.#ancestors.has(place)) {
      if (isNext) await requireDirectory(this.#folder, this.#incoming, place);
      await this.walk(place);
      return;
    }
    if (isPresent && (clears || isNext)) this.outs.push(place);
    if (isNext) this.ins.push(place);
  }
}

/** Refuses a release with a file in place of a directory in which something is kept. */
async function requireDirectory(folder: GuardedDirectory, incoming: string, place: string): Promise<void> {
  if (await isDirectory(folder, path.join(WORK, incoming, place))) return;
  throw new Problem(409, `the release has a file ${place}, in which something is kept; remove it from exclude_dirs`);
}

/** Carries a swap out, from wherever it was left. */
export async function carryOut(
  folder: GuardedDirectory,
  { incoming, outgoing, outs, ins }: Swap,
  owner: FileOwner | null,
): Promise<void> {
  for (const place of outs) {
    const aside = path.join(WORK, outgoing, place);
    if ((await isThere(folder, aside)) || !(await isThere(folder, place))) continue;
    await move(folder, place, aside, owner);
  }
  for (const [index, place] of ins.entries()) {
    const source = path.join(WORK, incoming, place);
    if (!(await isThere(folder, source))) continue;
    // A file that has appeared here since the plan may be a user's, so it is kept beside the outgoing release.
    if (await isThere(folder, place)) await move(folder, place, path.join(WORK, strayOf(outgoing, index)), owner);
    await move(folder, source, place, owner);
  }
  await syncMoved(folder, { incoming, outgoing, outs, ins });
}

/** Reverts a swap, from wherever it was left. */
export async function undo(
  folder: GuardedDirectory,
  { incoming, outgoing, outs, ins }: Swap,
  owner: FileOwner | null,
): Promise<void> {
  const isAside = (place: string): Promise<boolean> => isThere(folder, path.join(WORK, outgoing, place));
  for (const [index, place] of [...ins.entries()].reverse()) {
    const source = path.join(WORK, incoming, place);
    const isOld = outs.includes(place) && !(await isAside(place));
    if (isOld || (await isThere(folder, source))) continue;
    if (await isThere(folder, place)) await move(folder, place, source, owner);
    const stray = path.join(WORK, strayOf(outgoing, index));
    if (await isThere(folder, stray)) await move(folder, stray, place, owner);
  }
  for (const place of outs.toReversed())
    if ((await isAside(place)) && !(await isThere(folder, place)))
      await move(folder, path.join(WORK, outgoing, place), place, owner);
  await syncMoved(folder, { incoming, outgoing, outs, ins });
}

/** Whether an interrupted swap cannot be completed, because the incoming release is gone. */
export async function isHopeless(folder: GuardedDirectory, { incoming, outgoing, outs, ins }: Swap): Promise<boolean> {
  if (await isThere(folder, path.join(WORK, incoming))) return false;
  const aside = await Promise.all(outs.map(place => isThere(folder, path.join(WORK, outgoing, place))));
  const arrived = await Promise.all(ins.map(place => isThere(folder, place)));
  return aside.includes(false) || (ins.length > 0 && !arrived.includes(true));
}

/** Syncs all directories that a swap may have changed, so that they survive a loss of power before its record goes. */
async function syncMoved(
  folder: GuardedDirectory,
  { incoming, outgoing, outs, ins }: Pick<Swap, 'incoming' | 'outgoing' | 'outs' | 'ins'>,
): Promise<void> {
  const places = [
    ...[...outs, ...ins].map(place => path.dirname(place)),
    ...outs.map(place => path.dirname(path.join(WORK, outgoing, place))),
    ...ins.map(place => path.dirname(path.join(WORK, incoming, place))),
    // The directories of the releases were created in these.
    path.join(WORK, outgoing),
    WORK,
    '.',
  ];
  for (const place of new Set(places))
    await within(folder, place === '.' ? '' : `${place}/`, directory => directory.sync()).catch(missing(undefined));
}

/** Where a file is kept that was in the way of a release. */
function strayOf(outgoing: string, index: number): string {
  return path.join(outgoing, `${WORK}-${index}`);
}

function move(folder: GuardedDirectory, from: string, to: string, owner: FileOwner | null): Promise<void> {
  return within(folder, from, (source, name) =>
    within(folder, to, (target, newName) => source.move(name, target, newName), { owner }),
  );
}

export async function isThere(folder: GuardedDirectory, place: string): Promise<boolean> {
  return (await statOf(folder, place)) !== null;
}

async function isDirectory(folder: GuardedDirectory, place: string): Promise<boolean> {
  return (await statOf(folder, place))?.isDirectory() === true;
}

function statOf(folder: GuardedDirectory, place: string) {
  return within(folder, place, (directory, name) => directory.stat(name)).catch(missing(null));
}

function namesAt(folder: GuardedDirectory, place: string): Promise<string[]> {
  return within(folder, `${place}/`, directory => directory.names()).catch(missing<string[]>([]));
}

/**
 * Calls `use` with the directory that holds a place below the folder, and the place's name in it; for a place that ends
 * with a slash, with that directory.
 */
export async function within<Value>(
  folder: GuardedDirectory,
  place: string,
  use: (directory: GuardedDirectory, name: string) => Value | Promise<Value>,
  making?: Making,
): Promise<Value> {
  const parts = place.split('/');
  const name = parts.pop() ?? '';
  const entered: GuardedDirectory[] = [];
  try {
    let directory = folder;
    for (const part of parts.filter(Boolean)) {
      directory = await directory.enter(part, making);
      entered.push(directory);
    }
    return await use(directory, name);
  } finally {
    for (const directory of entered) directory.close();
  }
}

function ancestorsOf(place: string): string[] {
  const parent = path.dirname(place);
  return parent === '.' ? [] : [parent, ...ancestorsOf(parent)];
}

/** Gives `value` for ENOENT: a directory of the path may be missing in one of the releases. */
function missing<Value>(value: Value): (error: NodeJS.ErrnoException) => Value {
  return error => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
