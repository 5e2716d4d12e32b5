// Ports of managed processes: which process claims which, whether one is in use, and the next free one.

import { type NamedBlock, Problem } from '#core';
import { PORT_KEYS } from '#kit/block-ports';
import { findBlocks } from '#kit/named-blocks';
import { findOtherHolder } from '#kit/port-holder';
import { portInUse } from '#kit/port-in-use';

const LAST_PORT = 65_535;
/** Code of Problems with the status 500 that refuse a start before anything was changed. */
export const NO_PORT = 'process.no-port';

export interface PortChange {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** Ports that move, by the block that has them. */
export type PortMoves = ReadonlyMap<NamedBlock, readonly PortChange[]>;

/** Offset from its port at which a kind of service uses a second one; undefined when it does not. */
export type Companion = (configKey: string) => number | undefined;

/**
 * The changes that let all enabled entries run together; in a conflict the first in the file keeps its port. Entries
 * that run already keep theirs in any case.
 */
export async function reservePorts(
  blocks: readonly NamedBlock[],
  runs: (processName: string) => boolean,
  companion: Companion,
): Promise<PortMoves> {
  const moves = new Map<NamedBlock, readonly PortChange[]>();
  let current = blocks;
  for (const [index, block] of blocks.entries()) {
    if (block.block.enabled !== true || runs(block.processName)) continue;
    const isGiven = (other: NamedBlock): boolean => runs(other.processName);
    const changes = await resolvePorts(current[index] ?? block, current, companion, isGiven).catch((error: unknown) => {
      // Its own start refuses it; the others get their ports all the same.
      if (error instanceof Problem) return [];
      throw error;
    });
    if (changes.length === 0) continue;
    moves.set(block, changes);
    const moved = Object.fromEntries(changes.map(({ key, to }) => [key, to]));
    current = current.with(index, { ...block, block: { ...block.block, ...moved } });
  }
  return moves;
}

/** One sentence for each port that an update assigns to an enabled entry although another has it. */
export function newPortConflicts(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): string[] {
  const known = new Set(portConflicts(before));
  return portConflicts(after).filter(conflict => !known.has(conflict));
}

function portConflicts(root: Readonly<Record<string, unknown>>): string[] {
  const owners = new Map<number, string>();
  return findBlocks(root)
    .filter(({ block }) => block.enabled === true)
    .flatMap(({ processName, block }) =>
      [...portsOf(block)].flatMap(([key, port]) => {
        const owner = owners.get(port) ?? processName;
        owners.set(port, owner);
        return owner === processName ? [] : [`${key} ${port} of ${processName} is also that of ${owner}`];
      }),
    );
}

/** Ports by block, kept because each start looks at the ports of all blocks. */
const portsByBlock = new WeakMap<Readonly<Record<string, unknown>>, ReadonlyMap<string, number>>();

/**
 * The ports that a block configures, by key; only integers from 1 to 65535 count. Blocks never change, so the result is
 * kept.
 */
export function portsOf(block: Readonly<Record<string, unknown>>): ReadonlyMap<string, number> {
  const known = portsByBlock.get(block);
  if (known !== undefined) return known;
  const ports = new Map(
    PORT_KEYS.map(key => [key, block[key]] as const).filter(
      (entry): entry is readonly [(typeof PORT_KEYS)[number], number] => isPort(entry[1]),
    ),
  );
  portsByBlock.set(block, ports);
  return ports;
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= LAST_PORT;
}

/**
 * The changes that let `block` start: a port that an enabled entry before it claims, that another entry which runs or
 * is being started has been given, or that a foreign process uses, moves up to the next free one. The product's own
 * entries never move, because published ports would no longer reach them. Throws a Problem 500 when no port is free.
 */
export async function resolvePorts(
  block: NamedBlock,
  all: readonly NamedBlock[],
  companion: Companion,
  isGiven: (other: NamedBlock) => boolean = () => false,
): Promise<PortChange[]> {
  const own = portsOf(block.block);
  if (block.path[0] === 'dumb' || own.size === 0) return [];
  const claimed = claimsBefore(block, all, companion, isGiven);
  const others = new Set(
    all
      .filter(other => other !== block && other.block.enabled === true)
      .flatMap(other => portsClaimedBy(other, companion)),
  );
  const offset = companion(block.configKey);
  const changes: PortChange[] = [];
  const taken = new Set<number>();
  for (const [key, port] of own) {
    const isTaken = (candidate: number) => claimed.has(candidate) || taken.has(candidate);
    if (await isFree(port, offset, isTaken)) {
      taken.add(port);
      continue;
    }
    const free = await nextFree(port, offset, candidate => others.has(candidate) || isTaken(candidate));
    if (free === undefined) {
      const reason = `no port above ${port} is free; nothing was changed`;
      throw new Problem(500, `${block.processName} cannot start: ${reason}`, { code: NO_PORT });
    }
    taken.add(free);
    changes.push({ key, from: port, to: free });
  }
  return changes;
}

/**
 * Throws a Problem 409 that names the holder when another process uses a port of one of the product's own entries. Such
 * an entry cannot move, and the other process would be taken for it. The host itself leaves the port before the launch.
 */
export async function refuseForeignHolder({ processName, path, block }: NamedBlock): Promise<void> {
  if (path[0] !== 'dumb') return;
  const { host } = block;
  const address = typeof host === 'string' && host !== '' ? host : '0.0.0.0';
  for (const [key, port] of portsOf(block)) {
    if (!(await portInUse(port, [address]))) continue;
    const holder = await findOtherHolder(port);
    if (holder === undefined) continue;
    const reason = `port ${port} is in use by ${holder}`;
    const place = [...path, key].join('.');
    throw new Problem(409, `${processName} cannot start: ${reason}; end that, or choose another port in ${place}`);
  }
}

/** The product's own entries claim first, then the others in file order; only enabled ones and given ports count. */
function claimsBefore(
  block: NamedBlock,
  all: readonly NamedBlock[],
  companion: Companion,
  isGiven: (other: NamedBlock) => boolean,
): ReadonlySet<number> {
  const own = all.filter(other => other.path[0] === 'dumb' && other !== block && other.block.enabled !== false);
  const at = all.indexOf(block);
  const before = all.filter(
    (other, index) => other !== block && ((index < at && other.block.enabled === true) || isGiven(other)),
  );
  return new Set([...own, ...before].flatMap(other => portsClaimedBy(other, companion)));
}

/** The ports that a block configures, with those that its service uses beside them. */
export function portsClaimedBy({ block, configKey }: NamedBlock, companion: Companion): number[] {
  const ports = portsOf(block);
  if (ports.size === 0) return [];
  const offset = companion(configKey);
  return [...ports.values()].flatMap(port => (offset === undefined ? [port] : [port, port + offset]));
}

async function nextFree(
  after: number,
  offset: number | undefined,
  isClaimed: (port: number) => boolean,
): Promise<number | undefined> {
  for (let port = after + 1; port + (offset ?? 0) <= LAST_PORT; port += 1) {
    if (await isFree(port, offset, isClaimed)) return port;
  }
  return undefined;
}

async function isFree(
  port: number,
  offset: number | undefined,
  isClaimed: (port: number) => boolean,
): Promise<boolean> {
  for (const candidate of offset === undefined ? [port] : [port, port + offset]) {
    if (candidate > LAST_PORT || isClaimed(candidate) || (await portInUse(candidate))) return false;
  }
  return true;
}
