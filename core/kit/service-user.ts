// Tells which paths a service's user can reach. A child running as that user asks the kernel, because modes alone do
// not decide it.
import path from 'node:path';
import { runChild } from './fs-out-of-process.ts';

/** undefined stands for the user that the host runs as. */
export type ServiceUser = { readonly uid: number; readonly gid: number } | undefined;

/**
 * How a path will be used: `enter` a directory, `run` a file, or `name` it, where a file must be readable or executable
 * and only the parents of a directory count.
 */
type Use = 'enter' | 'run' | 'name';

export interface Wanted {
  readonly place: string;
  readonly use: Use;
}

interface Seen {
  /** The tests of test(1) that succeed: e, d, r and x, each applied to the target of a link. */
  readonly flags: string;
  /** The target of a link that the user cannot follow; empty for anything else. */
  readonly link: string;
}

const TIMEOUT_MS = 5_000;
const MAX_LINKS = 40;
const TEST_SCRIPT = `for p; do
  flags=
  for flag in e d r x; do if [ "-$flag" "$p" ]; then flags=$flags$flag; fi; done
  link=
  if [ -z "$flags" ] && [ -L "$p" ]; then link=$(readlink -- "$p"); fi
  printf '%s\\0%s\\0' "$flags" "$link"
done`;

/** Whether the path can be used, does not exist, or which part is the first that the user cannot pass or use. */
export type Reach = 'open' | 'absent' | { readonly closed: string };

/** The answer for each path. Throws an Error when a mount does not answer in time. */
export async function reachOf(wanted: readonly Wanted[], user: ServiceUser): Promise<Reach[]> {
  const found: Reach[] = wanted.map(() => 'absent');
  let open = wanted.map(({ place, use }, index) => ({ way: path.resolve(place), use, index }));
  for (let links = 0; open.length > 0 && links <= MAX_LINKS; links += 1) {
    const seen = await runTests([...new Set(open.flatMap(({ way }) => partsOf(way)))], user);
    open = open.flatMap(({ way, use, index }) => {
      const end = follow(way, use, seen);
      if ('continueAt' in end) return [{ way: end.continueAt, use, index }];
      found[index] = end.reach;
      return [];
    });
  }
  return found;
}

/** Every directory on the path from the root down, then the path itself. */
function partsOf(way: string): string[] {
  const parent = path.dirname(way);
  return parent === way ? [way] : [...partsOf(parent), way];
}

interface Round {
  readonly parts: Set<string>;
  readonly seen: Promise<ReadonlyMap<string, Seen>>;
}

/** The next child of each user, which begins when the present one has ended. */
const nextRounds = new Map<string, Round>();
const presentRounds = new Map<string, Promise<unknown>>();

/**
 * Callers that ask while a child of the same user runs share the next child, because each one costs a fork of the host.
 */
async function runTests(parts: readonly string[], user: ServiceUser): Promise<ReadonlyMap<string, Seen>> {
  const key = `${user?.uid}:${user?.gid}`;
  const round = nextRounds.get(key) ?? beginRound(key, user);
  for (const part of parts) round.parts.add(part);
  // A path that does not answer must not fail the callers that asked for other paths.
  return round.seen.catch((error: unknown) => {
    if (round.parts.size === parts.length) throw error;
    return testsOf(parts, user);
  });
}

function beginRound(key: string, user: ServiceUser): Round {
  const parts = new Set<string>();
  const before = presentRounds.get(key) ?? Promise.resolve();
  const seen = before.then(() => {
    nextRounds.delete(key);
    return testsOf([...parts], user);
  });
  const ended = seen.then(
    () => undefined,
    () => undefined,
  );
  presentRounds.set(key, ended);
  const round = { parts, seen };
  nextRounds.set(key, round);
  return round;
}

async function testsOf(parts: readonly string[], user: ServiceUser): Promise<ReadonlyMap<string, Seen>> {
  const { output } = await runChild('sh', ['-c', TEST_SCRIPT, 'sh', ...parts], TIMEOUT_MS, user);
  const answers = output.split('\0');
  return new Map(parts.map((part, at) => [part, { flags: answers[2 * at] ?? '', link: answers[2 * at + 1] ?? '' }]));
}

/** The result for the path, or the path to continue with behind a link that the user's test could not follow. */
function follow(way: string, use: Use, seen: ReadonlyMap<string, Seen>): { reach: Reach } | { continueAt: string } {
  for (const part of partsOf(way)) {
    const { flags, link } = seen.get(part) ?? { flags: '', link: '' };
    if (!flags.includes('e')) {
      // Its parent can be entered, so it does not exist or is a link whose target cannot be reached.
      if (link === '') return { reach: 'absent' };
      return { continueAt: path.resolve(path.dirname(part), link, path.relative(part, way)) };
    }
    if (part === way) return { reach: isUsable(flags, use) ? 'open' : { closed: part } };
    if (flags.includes('d') && !flags.includes('x')) return { reach: { closed: part } };
  }
  return { reach: 'absent' };
}

function isUsable(flags: string, use: Use): boolean {
  if (use === 'enter') return flags.includes('x');
  if (flags.includes('d')) return true;
  return flags.includes('x') || (use === 'name' && flags.includes('r'));
}
