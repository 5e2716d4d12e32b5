// Saves ports that moved in the configuration, and changes what the service itself and the waits of others say of them.
import type { Host, NamedBlock } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';
import { type PortChange, portsOf } from './ports.ts';

/** Matches an address on this machine up to its port. */
const LOCAL_ADDRESS = /^(https?:\/\/(?:[^/?#@]*@)?(?:127\.0\.0\.1|localhost|\[::1\]):)(\d+)(?=[/?#]|$)/i;
const LOCAL_HOSTS: ReadonlySet<unknown> = new Set(['127.0.0.1', 'localhost', '::1', undefined]);

interface Move {
  /** Whether a wait that gives this name means the service that moved. */
  readonly isNamedBy: (name: unknown) => boolean;
  readonly from: number;
  readonly to: number;
  /** Whether another enabled service keeps the former port. */
  readonly isKept: boolean;
}

/** The port that a wait for this one has from now on; undefined when it stays. */
type PortAfter = (port: number) => number | undefined;

/**
 * Saves and logs the ports that moved, also where the block names them once more; a port that comes from the
 * environment changes in memory only. Waits of other services for a moved port of this machine are changed too: those
 * that name the service that moved, and those that name none while no other service has that port.
 */
export async function savePortMoves(
  host: Pick<Host, 'contributions' | 'find' | 'log' | 'name' | 'use'>,
  moves: ReadonlyMap<NamedBlock, readonly PortChange[]>,
  blocks: readonly NamedBlock[],
): Promise<void> {
  const store = host.use('config.store');
  const moved: Move[] = [];
  const updates: Record<string, unknown> = {};
  const repeated = [...host.contributions('process.own-ports').values()].flatMap(({ members }) => members);
  for (const [named, changes] of moves) {
    const isNamedBy = (name: unknown): boolean => store.findBlock(String(name))?.processName === named.processName;
    for (const { key, from, to } of changes) {
      tellMove(host, named, { key, from, to });
      const again = repeated.filter(place => valueAt(named.block, place) === from);
      for (const place of [[key], ...again])
        merge(updates, [...named.path, ...place.slice(0, -1)], { [String(place.at(-1))]: to });
      moved.push({ isNamedBy, from, to, isKept: isKept(from, moves, blocks) });
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
  // A variable of the environment overrides the file, so its port can be replaced in memory only. The second update
  // does not save what memory holds by then.
  if (store.overridingVariables().length > 0) await store.update({ updates, persist: false, actor: host.name });
  await store.update({ updates, persist: true, actor: host.name });
}

function tellMove(host: Pick<Host, 'find' | 'log'>, named: NamedBlock, { key, from, to }: PortChange): void {
  host.log.warn(`${named.processName}: ${key} ${from} is in use, ${to} is taken instead`);
  const templates = host.find('service.templates');
  const template = templates?.get(named.configKey);
  const known = template === undefined ? {} : (templates?.block(template, named.key) ?? {});
  for (const place of literalPlaces(named.block, known, from))
    host.log.warn(
      `${named.processName}: ${place} says ${from} still; where it means its own port, write {${key}} instead`,
    );
}

/**
 * Where the launch of a service names a port as a number. It stays as it is, because the number may be that of another
 * service, or no port at all. What is as its template has it is left out: the launch puts the present port there.
 */
function literalPlaces(
  { command, env }: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, unknown>>,
  port: number,
): string[] {
  const isPort = (value: unknown): boolean => String(value).trim() === String(port);
  const words = [command].flat().flatMap(text => String(text ?? '').split(/[\s=:]/));
  const isOwn = (name: string, value: unknown): boolean => !deepEqual(valueAt(known, ['env', name]), value);
  return [
    ...(words.some(isPort) && !deepEqual(command, known.command) ? ['command'] : []),
    ...Object.entries(isObject(env) ? env : {}).flatMap(([name, value]) =>
      isPort(value) && isOwn(name, value) ? [`env.${name}`] : [],
    ),
  ];
}

/** Whether an enabled service is configured for the port and does not move from it. */
function isKept(
  port: number,
  moves: ReadonlyMap<NamedBlock, readonly PortChange[]>,
  blocks: readonly NamedBlock[],
): boolean {
  const movers = new Set(
    [...moves].filter(([, changes]) => changes.some(({ from }) => from === port)).map(([block]) => block.processName),
  );
  return blocks.some(
    ({ processName, block }) =>
      !movers.has(processName) && block.enabled === true && [...portsOf(block).values()].includes(port),
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

function followedAddress(entry: unknown, moved: readonly Move[]): unknown {
  const { text, after } = isObject(entry)
    ? { text: entry.url, after: portAfter(moved, entry.process_name) }
    : { text: entry, after: portAfter(moved) };
  if (typeof text !== 'string') return entry;
  const url = text.replace(LOCAL_ADDRESS, (whole, begin: string, port: string) => {
    const to = after(Number(port));
    return to === undefined ? whole : `${begin}${to}`;
  });
  if (url === text) return entry;
  return isObject(entry) ? { ...entry, url } : url;
}

function followedPort(entry: unknown, moved: readonly Move[]): unknown {
  if (!isObject(entry) || !LOCAL_HOSTS.has(entry.host)) return entry;
  const port = portAfter(moved, entry.process_name)(Number(entry.port));
  return port === undefined ? entry : { ...entry, port };
}

/** Of several services that moved from one port the first had it. */
function portAfter(moved: readonly Move[], name?: unknown): PortAfter {
  const counts = ({ isNamedBy, isKept }: Move): boolean => (name === undefined ? !isKept : isNamedBy(name));
  return port => moved.find(move => move.from === port && counts(move))?.to;
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
