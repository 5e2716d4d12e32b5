// The part of a walk that runs in a thread: reads directories and passes the links of each to a visitor.
import { readlinkSync } from 'node:fs';
import { reasonText } from '#kit/error-text';
import { diskPathsIn, joined, type RawPath, shownPath } from '../places/raw-path.ts';
import { isTemporaryName } from '../places/temporary-name.ts';
import { LineBuffer } from '../tasks/line-buffer.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { inOrder, listEntries } from './listing.ts';
import { type LargeDirectories, TargetLook } from './target-look.ts';

const RAW = { encoding: 'latin1' } as const;

/** A directory of a walk: its real path, and the path that users see. */
export interface WalkedDirectory {
  readonly real: RawPath;
  readonly shown: RawPath;
}

export interface Link {
  readonly name: RawPath;
  readonly target: RawPath;
}

export interface ItemError {
  readonly link_path: string;
  readonly error: string;
}

/** The result of a visitor for one directory. */
interface Visited {
  /** Numbers that are added up over all directories. */
  readonly counts: Readonly<Record<string, number>>;
  readonly errors: readonly object[];
}

/**
 * Called for each directory with links, which are sorted by name. The lines that visitors append in all threads are
 * joined in the order of the walk.
 */
export type Visitor = (
  directory: WalkedDirectory,
  links: readonly Link[],
  targets: TargetLook,
  lines: LineBuffer,
) => Visited;

export interface VisitRequest {
  readonly directories: readonly WalkedDirectory[];
  readonly unreachable: readonly RawPath[];
}

export interface VisitAnswers {
  /** One answer for each directory of the request, in the same order. */
  readonly answers: readonly VisitAnswer[];
  /** The lines of all directories, one after the other. */
  readonly lines: Uint8Array<ArrayBuffer>;
}

export interface VisitAnswer extends Visited {
  readonly links: number;
  /** How many bytes of the lines belong to the directory. */
  readonly lineBytes: number;
  /** The names of its subdirectories, sorted. */
  readonly below: readonly RawPath[];
  /** Why the directory could not be read; absent when it was read. */
  readonly unreadable?: string;
  /** The unreachable places to which targets lead. */
  readonly met: readonly RawPath[];
}

/** Makes the function that answers requests by calling the visitor for their directories. */
export function visits(visitor: Visitor, pulse: Pulse): (request: VisitRequest) => VisitAnswers {
  const lines = new LineBuffer();
  const large: LargeDirectories = new Map();
  return request => {
    lines.clear();
    const answers = visitDirectories(request, visitor, lines, pulse, large);
    return { answers, lines: lines.toBytes() };
  };
}

function visitDirectories(
  request: VisitRequest,
  visitor: Visitor,
  lines: LineBuffer,
  pulse: Pulse,
  large: LargeDirectories,
): VisitAnswer[] {
  let errors: object[] = [];
  const tell = (directory: RawPath, error: string): void => {
    errors.push({ link_path: shownPath(directory), error: `${error}; targets in it count as existing` });
  };
  const targets = new TargetLook(pulse, request.unreachable, tell, large);
  return request.directories.map(directory => {
    errors = [];
    const below: RawPath[] = [];
    const answer = { counts: {}, errors, links: 0, lineBytes: 0, below, met: [] };
    let links: Link[];
    try {
      links = readLinks(directory, below, pulse, errors);
    } catch (error) {
      const unreadable = reasonText(error);
      errors.push({ link_path: shownPath(directory.shown), error: unreadable });
      return { ...answer, unreadable };
    }
    pulse.count(links.length);
    if (links.length === 0) return answer;
    const begin = lines.length;
    const visited = visitor(directory, links, targets, lines);
    return {
      ...answer,
      ...visited,
      errors: [...errors, ...visited.errors],
      links: links.length,
      lineBytes: lines.length - begin,
      met: targets.takeMet(),
    };
  });
}

function readLinks({ real, shown }: WalkedDirectory, below: RawPath[], pulse: Pulse, errors: object[]): Link[] {
  const links: Link[] = [];
  const names: RawPath[] = [];
  pulse.beat();
  for (const entry of listEntries(real)) {
    if (entry.isDirectory()) below.push(entry.name);
    else if (entry.isSymbolicLink() && !isTemporaryName(entry.name)) names.push(entry.name);
  }
  inOrder(below);
  const placeOf = diskPathsIn(real);
  for (const name of inOrder(names)) {
    pulse.beat();
    try {
      links.push({ name, target: readlinkSync(placeOf(name), RAW) });
    } catch (error) {
      // A link that was removed meanwhile does not count.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') errors.push({ link_path: shownPath(joined(shown, name)), error: reasonText(error) });
    }
  }
  return links;
}
