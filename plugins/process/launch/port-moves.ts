// Saves ports that moved in the configuration, and changes the waits of other services for them.
import type { Host, NamedBlock } from '#core';
import { isObject } from '#kit/plain-object';
import { type PortChange, portsOf } from './ports.ts';

/** Matches an address on this machine up to its port. */
const LOCAL_ADDRESS = /^(https?:\/\/(?:[^/?#@]*@)?(?:127\.0\.0\.1|localhost|\[::1\]):)(\d+)(?=[/?#]|$)/i;
const LOCAL_HOSTS: ReadonlySet<unknown> = new Set(['127.0.0.1', 'localhost', '::1', undefined]);

interface Move {
  readonly processName: string;
  readonly to: number;
}

/**
 * Saves and logs the ports that moved; a port that comes from the environment changes in memory only. Waits of other
 * services for a moved port of this machine are changed too, unless they name another service than the one that moved,
 * or another service has that port.
 */
export async function savePortMoves(
  host: Pick<Host, 'log' | 'name' | 'use'>,
  moves: ReadonlyMap<NamedBlock, readonly PortChange[]>,
  blocks: readonly NamedBlock[],
): Promise<void> {
  const moved = new Map<number, Move>();
  const updates: Record<string, unknown> = {};
  for (const [{ processName, path }, changes] of moves) {
    for (const { key, from, to } of changes) {
      host.log.warn(`${processName}: ${key} ${from} is in use, ${to} is taken instead`);
      merge(updates, path, { [key]: to });
      if (!isKept(from, processName, blocks)) moved.set(from, { processName, to });
    }
  }
  for (const { processName, path, block } of blocks) {
    const waits = {
      ...followed(block, 'wait_for_url', entry => followedAddress(entry, moved)),
      ...followed(block, 'wait_for_tcp', entry => followedPort(entry, moved)),
    };
    if (Object.keys(waits).length === 0) continue;
    host.log.warn(`${processName}: ${Object.keys(waits).join(' and ')} goes along`);
    merge(updates, path, waits);
  }
  const store = host.use('config.store');
  // A variable of the environment overrides the file, so its port can be replaced in memory only. The second update
  // does not save what memory holds by then.
  if (store.overridingVariables().length > 0) await store.update({ updates, persist: false, actor: host.name });
  await store.update({ updates, persist: true, actor: host.name });
}

/** Whether another enabled service is configured for the port. */
function isKept(port: number, mover: string, blocks: readonly NamedBlock[]): boolean {
  return blocks.some(
    ({ processName, block }) =>
      processName !== mover && block.enabled === true && [...portsOf(block).values()].includes(port),
  );
}

/** The member with its changed entries, in its own form; an empty object when no entry changes. */
function followed(
  block: Readonly<Record<string, unknown>>,
  key: string,
  follow: (entry: unknown) => unknown,
): Record<string, unknown> {
  const { [key]: value } = block;
  const isList = Array.isArray(value);
  const before: readonly unknown[] = isList ? value : [value];
  const after = before.map(follow);
  if (after.every((entry, index) => entry === before[index])) return {};
  return { [key]: isList ? after : after[0] };
}

function followedAddress(entry: unknown, moved: ReadonlyMap<number, Move>): unknown {
  if (typeof entry === 'string')
    return entry.replace(LOCAL_ADDRESS, (whole, begin: string, port: string) => {
      const move = moved.get(Number(port));
      return move === undefined ? whole : `${begin}${move.to}`;
    });
  if (!isObject(entry) || typeof entry.url !== 'string') return entry;
  const url = followedAddress(entry.url, onlyOf(entry, moved));
  return url === entry.url ? entry : { ...entry, url };
}

function followedPort(entry: unknown, moved: ReadonlyMap<number, Move>): unknown {
  if (!isObject(entry) || !LOCAL_HOSTS.has(entry.host)) return entry;
  const move = onlyOf(entry, moved).get(Number(entry.port));
  return move === undefined ? entry : { ...entry, port: move.to };
}

/** The moves that a wait follows: those of the service that it names, or all when it names none. */
function onlyOf(entry: Readonly<Record<string, unknown>>, moved: ReadonlyMap<number, Move>): ReadonlyMap<number, Move> {
  const { process_name: name } = entry;
  return name === undefined ? moved : new Map([...moved].filter(([, { processName }]) => processName === name));
}

/** Sets members of an object at a path and creates missing parents. */
function merge(root: Record<string, unknown>, path: readonly string[], value: Record<string, unknown>): void {
  const [key, ...rest] = path;
  if (key === undefined) {
    Object.assign(root, value);
    return;
  }
  const child = (root[key] ?? {}) as Record<string, unknown>;
  root[key] = child;
  merge(child, rest, value);
}
