// One thread's part of a walk: reads directories and hands the links of each to a visitor, who says what becomes of
// them.
import { readlinkSync } from 'node:fs';
import { reasonText } from '#kit/error-text';
import { diskPathsIn, joined, type RawPath, shownPath } from '../places/raw-path.ts';
import { isTemporaryName } from '../places/temporary-name.ts';
import { LineBuffer } from '../tasks/line-buffer.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { inOrder, listEntries } from './listing.ts';
import { type LargeDirectories, TargetLook } from './target-look.ts';

const RAW = { encoding: 'latin1' } as const;

/** A directory that is walked: where it really is, and how people call it. */
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

/** What a visitor makes of the links of one directory. */
interface Visited {
  /** Numbers that are added up over all directories. */
  readonly counts: Readonly<Record<string, number>>;
  readonly errors: readonly object[];
}

/**
 * Called with the links of a directory, sorted by name, if it has any. What it appends to `lines` in all threads is
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
  /** One for each directory, in their order. */
  readonly answers: readonly VisitAnswer[];
  /** Those of all the directories, one after the other. */
  readonly lines: Uint8Array<ArrayBuffer>;
}

export interface VisitAnswer extends Visited {
  readonly links: number;
  /** How much of the lines is the directory's. */
  readonly lineBytes: number;
  /** Names of the directories in it, sorted. */
  readonly below: readonly RawPath[];
  /** Why the directory could not be read. */
  readonly unreadable?: string;
  /** Of the places that are not asked for, those to which targets lead. */
  readonly met: readonly RawPath[];
}

/** Answers requests with what the visitor makes of their directories. */
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
      // One that is gone meanwhile is no link of this tree any more.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') errors.push({ link_path: shownPath(joined(shown, name)), error: reasonText(error) });
    }
  }
  return links;
}
