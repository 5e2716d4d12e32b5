// Walks roots with the threads of a pool. The answers for directories come in the order of the walk: a directory before
// its subdirectories, and these sorted by the bytes of their names.

import { joined, type RawPath } from '../places/raw-path.ts';
import type { ShardPool } from '../tasks/shard-pool.ts';
import type { VisitAnswer, VisitAnswers, VisitRequest, WalkedDirectory } from './visit.ts';

/** How many directories a request has; with more, progress would be coarse on a slow mount. */
const BATCH = 32;
/** How many bytes of lines may wait for their turn behind a slow directory. */
const MAX_AHEAD = 16_000_000;

/** A place in the order of the walk: a directory that was read or is being read, or directories still to be read. */
type Place =
  | {
      readonly state: 'done';
      readonly answer: VisitAnswer;
      readonly lines: Uint8Array;
      readonly directory: WalkedDirectory;
    }
  | { readonly state: 'asked' }
  | {
      readonly state: 'open';
      readonly parent: WalkedDirectory | null;
      readonly names: readonly RawPath[];
      from: number;
    };

interface Node {
  place: Place;
  next: Node | null;
}

/** Called for each directory in order; `lines` are those that the visitor has made for it. */
type Take = (answer: VisitAnswer, lines: Uint8Array, directory: WalkedDirectory) => void;

export interface WalkOptions {
  /** Ends the walk early when it is true. */
  readonly isStopped?: () => boolean;
  /** Called with the real path of each directory below a root that would be read. One for which it is true is not. */
  readonly passesOver?: (directory: RawPath) => boolean;
}

/** Rejects when a thread fails. Directories that cannot be read are errors of their answers. */
export async function walk(
  pool: ShardPool,
  roots: readonly WalkedDirectory[],
  take: Take,
  { isStopped = () => false, passesOver = () => false }: WalkOptions = {},
): Promise<void> {
  for (const root of roots) await walkRoot(pool, root, take, { isStopped, passesOver });
}

async function walkRoot(
  pool: ShardPool,
  root: WalkedDirectory,
  take: Take,
  { isStopped, passesOver }: Required<WalkOptions>,
): Promise<void> {
  const head: Node = { place: { state: 'asked' }, next: null };
  const first: Node = { place: { state: 'open', parent: null, names: [''], from: 0 }, next: null };
  head.next = first;
  let ahead = 0;
  const running = new Set<Promise<void>>();
  let failure: unknown;
  while (head.next !== null && failure === undefined && !isStopped()) {
    for (let node: Node | null = head.next; node?.place.state === 'done'; node = head.next) {
      head.next = node.next;
      // Unlinked, because a closure that still refers to the node would keep all later nodes in memory.
      node.next = null;
      const { answer, lines, directory } = node.place;
      ahead -= lines.length;
      take(answer, lines, directory);
    }
    while (running.size < pool.threads + 1 && (ahead < MAX_AHEAD || running.size === 0)) {
      const batch = nextBatch(head, root);
      if (batch.length === 0) break;
      const request = ask(pool, batch, passesOver).then(
        size => {
          ahead += size;
        },
        (error: unknown) => {
          failure = error ?? new Error('a thread failed');
        },
      );
      running.add(request);
      void request.then(() => running.delete(request));
    }
    if (running.size > 0) await Promise.race(running);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure;
}

interface Asked {
  readonly directory: WalkedDirectory;
  readonly node: Node;
}

/** Takes the first directories that are still to be read. Each gets a node of its own, before the remaining ones. */
function nextBatch(head: Node, root: WalkedDirectory): Asked[] {
  const batch: Asked[] = [];
  let before = head;
  while (before.next !== null && batch.length < BATCH) {
    const node: Node = before.next;
    if (node.place.state !== 'open') {
      before = node;
      continue;
    }
    const { parent, names, from } = node.place;
    const name = names[from] ?? '';
    const directory = parent === null ? root : { real: joined(parent.real, name), shown: joined(parent.shown, name) };
    node.place.from += 1;
    const isLast = node.place.from >= names.length;
    const asked: Node = { place: { state: 'asked' }, next: isLast ? node.next : node };
    before.next = asked;
    before = asked;
    batch.push({ directory, node: asked });
  }
  return batch;
}

/** Has a batch read. Resolves with the size of its lines, which then wait for their turn. */
async function ask(
  pool: ShardPool,
  batch: readonly Asked[],
  passesOver: Required<WalkOptions>['passesOver'],
): Promise<number> {
  const directories = batch.map(({ directory }) => directory);
  const answer = await pool.ask((unreachable): VisitRequest => ({ directories, unreachable }));
  const { answers, lines } = answer as VisitAnswers;
  let end = 0;
  for (const [index, { directory, node }] of batch.entries()) {
    const answer = answers[index];
    if (answer === undefined) throw new Error('a thread answered for too few directories');
    const begin = end;
    end += answer.lineBytes;
    node.place = { state: 'done', answer, lines: lines.subarray(begin, end), directory };
    const names = answer.below.filter(name => !passesOver(joined(directory.real, name)));
    if (names.length > 0) node.next = { place: { state: 'open', parent: directory, names, from: 0 }, next: node.next };
  }
  return end;
}
