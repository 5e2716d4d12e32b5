// Moves ports that are taken in the configuration, and changes what the service itself and the waits of others say of
// them.
import type { Host, NamedBlock } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';
import type { PortTurns } from './port-turns.ts';
import { type Companion, type PortChange, type PortMoves, portsOf } from './ports.ts';

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

/** A member of the configuration that changes. */
interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
}

export interface PortMoving {
  readonly host: Pick<Host, 'contributions' | 'find' | 'log' | 'name' | 'use'>;
  readonly signal: AbortSignal;
  /** The present blocks; the same list until the configuration changes. */
  blocks(): readonly NamedBlock[];
  /** Finds the ports of these blocks that are taken, and what can be taken instead. */
  look(blocks: readonly NamedBlock[]): Promise<PortMoves>;
  readonly portCompanion: Companion;
  readonly portTurns: PortTurns;
  /**
   * Resolves when nothing that an earlier host left on these ports is in the way any more; rejects when the signal fires.
   */
  freed(ports: readonly number[]): Promise<void>;
  /** The error of moves that cannot be saved. */
  unsaved(cause: unknown): Error;
  /** Called within the turn in which the ports were moved, or found to be free. */
  onMoved?(): void;
}

/**
 * Moves ports that are taken. Looks again when what an earlier host left on them has ended, for which other starts do
 * not wait.
 */
export async function movePorts(moving: PortMoving): Promise<void> {
  const { signal, portTurns } = moving;
  /** Ports on which nothing of an earlier host is left. */
  const freed = new Set<number>();
  for (;;) {
    const unasked = await portTurns.take(() => moveUnlessLeft(freed, moving), signal);
    if (unasked.length === 0) return;
    await moving.freed(unasked);
    for (const port of unasked) freed.add(port);
  }
}

/**
 * Gives the ports on which something of an earlier host may be left; none when the ports are moved. Looks again when the
 * configuration changed meanwhile: what others save of a port must not be undone, nor a block that was renamed or
 * removed be written to.
 */
async function moveUnlessLeft(freed: ReadonlySet<number>, moving: PortMoving): Promise<readonly number[]> {
  for (;;) {
    moving.signal.throwIfAborted();
    const seen = moving.blocks();
    const moves = await moving.look(seen);
    const unasked = portsLeft(moves, moving.portCompanion).filter(port => !freed.has(port));
    if (unasked.length > 0) return unasked;
    const isDone =
      moves.size === 0
        ? moving.blocks() === seen
        : await savePortMoves(moves, seen, moving).catch((error: unknown) => {
            throw moving.unsaved(error);
          });
    if (!isDone) continue;
    moving.onMoved?.();
    return [];
  }
}

/**
 * Saves and logs the ports that moved, also where the block names them once more; a port that comes from the
 * environment changes in memory only. Waits of other services for a moved port of this machine are changed too: those
 * that name the service that moved, and those that name none while no other service has that port. False, with nothing
 * saved, when the blocks have changed since they were seen.
 */
async function savePortMoves(
  moves: PortMoves,
  seen: readonly NamedBlock[],
  { host, blocks }: PortMoving,
): Promise<boolean> {
  const store = host.use('config.store');
  const { edits, warnings } = editsOf(moves, seen, host);
  let isSeen = true;
  const save = (updates: () => Record<string, unknown>, persist: boolean) =>
    store.update({ updates, persist, actor: host.name });
  /** Called when no other update can come between. */
  const ifSeen = (): Record<string, unknown> => {
    isSeen = blocks() === seen;
    if (!isSeen) return {};
    for (const warning of warnings) host.log.warn(warning);
    return merged(edits);
  };
  if (store.overridingVariables().length === 0) await save(ifSeen, true);
  else {
    // A variable of the environment overrides the file, so its port can be replaced in memory only. The second update
    // saves neither what memory holds by then, nor what others have changed since the first.
    await save(ifSeen, false);
    if (isSeen) await save(() => merged(edits.filter(({ path, value }) => deepEqual(store.get(path), value))), true);
  }
  return isSeen;
}

/** The ports that the moves give up, with those that their services use beside them. */
function portsLeft(moves: PortMoves, companion: Companion): number[] {
  return [...moves].flatMap(([{ configKey }, changes]) => {
    const offset = companion(configKey);
    return changes.flatMap(({ from }) => (offset === undefined ? [from] : [from, from + offset]));
  });
}

/** What the moves change in the configuration, and what is said of that. */
function editsOf(
  moves: PortMoves,
  blocks: readonly NamedBlock[],
  host: PortMoving['host'],
): { readonly edits: readonly Edit[]; readonly warnings: readonly string[] } {
  const store = host.use('config.store');
  const moved: Move[] = [];
  const edits: Edit[] = [];
  const warnings: string[] = [];
  const repeated = [...host.contributions('process.own-ports').values()].flatMap(({ members }) => members);
  for (const [named, changes] of moves) {
    const isNamedBy = (name: unknown): boolean => store.findBlock(String(name))?.processName === named.processName;
    for (const { key, from, to } of changes) {
      warnings.push(...moveWarnings(host, named, { key, from, to }));
      const again = repeated.filter(place => valueAt(named.block, place) === from);
      edits.push(...[[key], ...again].map(place => ({ path: [...named.path, ...place], value: to })));
      moved.push({ isNamedBy, from, to, isKept: isKept(from, moves, blocks) });
    }
  }
  for (const { processName, path, block } of blocks) {
    const waits = Object.entries({
      ...followed(block, 'wait_for_url', entry => followedAddress(entry, moved)),
      ...followed(block, 'wait_for_tcp', entry => followedPort(entry, moved)),
    });
    if (waits.length === 0) continue;
    warnings.push(`${processName}: ${waits.map(([key]) => key).join(' and ')} goes along`);
    edits.push(...waits.map(([key, value]) => ({ path: [...path, key], value })));
  }
  return { edits, warnings };
}

function moveWarnings(host: Pick<Host, 'find'>, named: NamedBlock, { key, from, to }: PortChange): string[] {
  const templates = host.find('service.templates');
  const template = templates?.get(named.configKey);
  const known = template === undefined ? {} : (templates?.block(template, named.key) ?? {});
  return [
    `${named.processName}: ${key} ${from} is in use, ${to} is taken instead`,
    ...literalPlaces(named.block, known, from).map(
      place => `${named.processName}: ${place} says ${from} still; where it means its own port, write {${key}} instead`,
    ),
  ];
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
function isKept(port: number, moves: PortMoves, blocks: readonly NamedBlock[]): boolean {
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

/** An object with all members, for an update of the whole configuration. */
function merged(edits: readonly Edit[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { path, value } of edits) {
    let parent = root;
    for (const key of path.slice(0, -1)) {
      parent[key] ??= {};
      parent = parent[key] as Record<string, unknown>;
    }
    parent[path.at(-1) ?? ''] = value;
  }
  return root;
}
