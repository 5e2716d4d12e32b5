// The services that `depends_on` of a block names, each with what must be true of it before a start.
import { type NamedBlock, Problem } from '#core';
import type { ExitRecord, ProcessSnapshot } from '../contract.ts';
import type { Processes } from './waits.ts';

export type Condition = 'started' | 'healthy' | 'completed';

/** The forms of the key: a name, a list of names and objects, or an object with a condition for each name. */
type DependsOnKey =
  | string
  | readonly (string | { readonly process_name: string; readonly condition?: Condition })[]
  | Readonly<Record<string, Condition | { readonly condition?: Condition }>>;

export interface Dependency {
  /** A process name, or the key of services of one kind. */
  readonly name: string;
  readonly condition: Condition;
}

export function dependenciesOf({ block }: NamedBlock): readonly Dependency[] {
  const key = block.depends_on as DependsOnKey | undefined;
  if (key === undefined) return [];
  if (typeof key === 'string') return [{ name: key, condition: 'started' }];
  if (isList(key))
    return key.map(entry => {
      const { process_name: name, condition = 'started' } = typeof entry === 'string' ? { process_name: entry } : entry;
      return { name, condition };
    });
  return Object.entries(key).map(([name, said]) => {
    const { condition = 'started' } = typeof said === 'string' ? { condition: said } : said;
    return { name, condition };
  });
}

/** A type guard, because `Array.isArray` does not recognize readonly arrays. */
function isList(key: DependsOnKey): key is Extract<DependsOnKey, readonly unknown[]> {
  return Array.isArray(key);
}

/** The blocks that a name stands for: the one with this process name, else all of this kind. */
export function blocksNamed(name: string, blocks: readonly NamedBlock[]): readonly NamedBlock[] {
  const wanted = name.trim().toLowerCase();
  const named = blocks.filter(({ processName }) => processName.toLowerCase() === wanted);
  return named.length > 0 ? named : blocks.filter(({ configKey }) => configKey.toLowerCase() === wanted);
}

/** Throws a Problem 400 when a name stands for nothing, or services depend on each other in a circle. */
export function checkDependencies(block: NamedBlock, blocks: readonly NamedBlock[]): void {
  const refuse = (what: string): Problem => new Problem(400, `${block.processName} cannot start: ${what}`);
  const names = dependenciesOf(block).map(({ name }) => name);
  const unknown = names.filter(name => blocksNamed(name, blocks).length === 0);
  if (unknown.length === 1) throw refuse(`depends_on names ${unknown[0]}, which is no service; correct it`);
  if (unknown.length > 1) throw refuse(`depends_on names ${unknown.join(', ')}, which are no services; correct it`);
  const circle = wayTo(block.processName, block, blocks, new Set());
  if (circle === undefined) return;
  throw refuse(`it depends on itself (${[...circle].reverse().join(' -> ')}); remove one depends_on`);
}

function wayTo(
  target: string,
  from: NamedBlock,
  blocks: readonly NamedBlock[],
  seen: Set<string>,
): string[] | undefined {
  seen.add(from.processName);
  for (const next of dependenciesOf(from).flatMap(({ name }) => blocksNamed(name, blocks))) {
    if (next.processName === target) return [target, from.processName];
    const rest = seen.has(next.processName) ? undefined : wayTo(target, next, blocks, seen);
    if (rest !== undefined) return [...rest, from.processName];
  }
  return undefined;
}

/** Throws a Problem 409 when the block needs a service that stays down until it is started by hand. */
export async function requireDependencies(block: NamedBlock, { blocks, snapshot, isReady }: Processes): Promise<void> {
  for (const { name, condition } of dependenciesOf(block))
    for (const { processName } of blocksNamed(name, blocks())) {
      const process = snapshot(processName);
      const isLeftDown = process?.status === 'stopped' && (process.stoppedByUser || !process.enabled);
      if (!isLeftDown || (await isFulfilled(condition, process, isReady))) continue;
      throw new Problem(
        409,
        `${block.processName} depends on ${processName}, which is stopped; start ${processName} first, or correct depends_on`,
      );
    }
}

/** `isReady` asks a running process for its health. */
export async function isFulfilled(
  condition: Condition,
  process: ProcessSnapshot | undefined,
  isReady: (process: ProcessSnapshot) => Promise<boolean>,
): Promise<boolean> {
  if (process === undefined) return false;
  const hasCompleted = process.status === 'stopped' && hasDoneItsWork(process.lastExit);
  if (condition === 'completed') return hasCompleted;
  if (condition === 'started') return process.status === 'running' || process.completed === true;
  return isReady(process);
}

/** A process that was stopped in the middle of its work has not done it, although it may end with 0. */
export function hasDoneItsWork(exit: ExitRecord | null): boolean {
  return exit?.code === 0 && !exit.asked;
}
