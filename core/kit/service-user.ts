// Which places a service's user can reach, asked of the kernel in a child that is that user: modes alone do not tell.
import path from 'node:path';
import { runChild } from './fs-out-of-process.ts';

/** undefined: whoever the host runs as. */
export type ServiceUser = { readonly uid: number; readonly gid: number } | undefined;

/** What a place is wanted for. A file that is only named may be read or run; of a directory its parents count alone. */
type Use = 'enter' | 'run' | 'name';

export interface Wanted {
  readonly place: string;
  readonly use: Use;
}

interface Seen {
  /** As `test` answers: e, d, r and x, for what a link points to. */
  readonly flags: string;
  /** Where a link leads, else empty. */
  readonly link: string;
}

const LIMIT_MS = 5_000;
const MAX_LINKS = 40;
const LOOK = `for p; do
  flags=
  for flag in e d r x; do if [ "-$flag" "$p" ]; then flags=$flags$flag; fi; done
  if [ -L "$p" ]; then link=$(readlink -- "$p"); else link=; fi
  printf '%s\\0%s\\0' "$flags" "$link"
done`;

/** What stands in the way: nothing, the absence of the place, or the first part that the user cannot pass or use. */
export type Reach = 'open' | 'absent' | { readonly closed: string };

/** One answer for each place; one child sees to all. Throws an Error when nothing answers in time. */
export async function reachOf(wanted: readonly Wanted[], user: ServiceUser): Promise<Reach[]> {
  const found: Reach[] = wanted.map(() => 'absent');
  let open = wanted.map(({ place, use }, index) => ({ way: path.resolve(place), use, index }));
  for (let links = 0; open.length > 0 && links <= MAX_LINKS; links += 1) {
    const seen = await look([...new Set(open.flatMap(({ way }) => partsOf(way)))], user);
    open = open.flatMap(({ way, use, index }) => {
      const end = follow(way, use, seen);
      if ('goOn' in end) return [{ way: end.goOn, use, index }];
      found[index] = end.reach;
      return [];
    });
  }
  return found;
}

/** Every directory from the root down, then the place itself. */
function partsOf(way: string): string[] {
  const parent = path.dirname(way);
  return parent === way ? [way] : [...partsOf(parent), way];
}

async function look(parts: readonly string[], user: ServiceUser): Promise<ReadonlyMap<string, Seen>> {
  const { output } = await runChild('sh', ['-c', LOOK, 'sh', ...parts], LIMIT_MS, user);
  const answers = output.split('\0');
  return new Map(parts.map((part, at) => [part, { flags: answers[2 * at] ?? '', link: answers[2 * at + 1] ?? '' }]));
}

/** Where the way ends, or where it goes on behind a link that cannot be followed at once. */
function follow(way: string, use: Use, seen: ReadonlyMap<string, Seen>): { reach: Reach } | { goOn: string } {
  for (const part of partsOf(way)) {
    const { flags, link } = seen.get(part) ?? { flags: '', link: '' };
    if (!flags.includes('e')) {
      // Its directory is open, so it is absent, or a link into a place that is not.
      if (link === '') return { reach: 'absent' };
      return { goOn: path.resolve(path.dirname(part), link, path.relative(part, way)) };
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
