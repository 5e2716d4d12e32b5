// The shard of one migration: plans which links below its root are moved or copied, and reports obstacles.
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { reasonText } from '#kit/error-text';
import { diskPath, joined, jsonLine, moreMembers, type RawPath, shownPath } from '../places/raw-path.ts';
import type { LineBuffer } from '../tasks/line-buffer.ts';
import type { Pulse } from '../tasks/pulse.ts';
import type { TargetLook } from '../walk/target-look.ts';
import {
  type Link,
  type VisitAnswers,
  type Visitor,
  type VisitRequest,
  visits,
  type WalkedDirectory,
} from '../walk/visit.ts';
import { headLine } from './plan.ts';
import { deviceToWriteOn } from './planned-link.ts';
import { type MoveOptions, MovePlanner, type PlannedMove } from './planned-move.ts';

export interface MigrateShardOptions extends MoveOptions {
  /** The index of the migration. */
  readonly index: number;
  readonly copies: boolean;
  /** Whether the lines are a plan, with head lines, or only a report. */
  readonly withHeads: boolean;
  /** The roots of the migration as users see them. */
  readonly shown: { readonly from: RawPath; readonly to: RawPath };
}

export function migrateShard(options: MigrateShardOptions, pulse: Pulse): (request: VisitRequest) => VisitAnswers {
  const visitor: Visitor = (directory, links, targets, lines) => {
    const moves = new DirectoryMoves(options, directory, targets, lines, pulse);
    for (const link of links) moves.add(link);
    return { counts: moves.counts, errors: moves.errors };
  };
  return visits(visitor, pulse);
}

/** The moves or copies of the links of one directory. */
class DirectoryMoves {
  readonly counts = { moved: 0, copied: 0, skipped_nonexistent_target: 0, skipped_existing_destination: 0 };
  readonly errors: object[] = [];
  readonly #options: MigrateShardOptions;
  readonly #directory: WalkedDirectory;
  readonly #lines: LineBuffer;
  readonly #pulse: Pulse;
  readonly #planner: MovePlanner;
  /** The real roots of the migration, and the path of the directory below both. */
  readonly #roots: { readonly from: RawPath; readonly to: RawPath; readonly below: RawPath };
  /** Why no link of the directory can be moved. */
  #obstacle: string | undefined;
  /** The members that the lines of all moves share; undefined before the first move. */
  #more: RawPath | undefined;

  constructor(
    options: MigrateShardOptions,
    directory: WalkedDirectory,
    targets: TargetLook,
    lines: LineBuffer,
    pulse: Pulse,
  ) {
    const { from = '', to = '' } = options.migrations[options.index] ?? {};
    const below = directory.real === from ? '' : directory.real.slice(from.length + 1);
    this.#options = options;
    this.#directory = directory;
    this.#lines = lines;
    this.#pulse = pulse;
    this.#planner = new MovePlanner(options, pulse, targets);
    this.#roots = { from, to, below };
    this.#obstacle = obstacleOf(() => this.#planner.obstacle(options.index, directory.real));
  }

  add(link: Link): void {
    const source = joined(this.#directory.shown, link.name);
    const place = joined(joined(this.#options.shown.to, this.#roots.below), link.name);
    try {
      const planned = this.#plan(link);
      if (planned.is === 'move') this.#move(source, place, planned);
      else if (planned.is === 'error') this.#fail(source, place, planned.error);
      else if (planned.is === 'broken') this.counts.skipped_nonexistent_target += 1;
      else this.counts.skipped_existing_destination += 1;
    } catch (error) {
      this.#fail(source, place, reasonText(error));
    }
  }

  #plan(link: Link): PlannedMove {
    if (this.#obstacle !== undefined) return { is: 'error', error: this.#obstacle };
    const planned = this.#planner.plan(this.#options.index, this.#directory.real, link);
    if (planned.is !== 'move' || this.#more !== undefined) return planned;
    this.#obstacle = this.#begin();
    return this.#obstacle === undefined ? planned : { is: 'error', error: this.#obstacle };
  }

  /** Begins the lines of the directory before its first move; returns why nothing can be moved, if so. */
  #begin(): string | undefined {
    const { index, copies, shown, withHeads } = this.#options;
    const { real } = this.#directory;
    const ways = waysOf(real, this.#planner.destinationOf(index, real), copies, this.#pulse);
    if ('obstacle' in ways) return ways.obstacle;
    const { device, toDevice, newDirectories } = ways;
    if (withHeads) this.#lines.append(headLine({ device, directory: real, move: { ...this.#roots, toDevice } }));
    this.#more = moreMembers({
      operation: copies ? 'copy' : 'move',
      from_root: shownPath(shown.from),
      to_root: shownPath(shown.to),
      ...(newDirectories > 0 && { new_directories: newDirectories }),
    });
    return undefined;
  }

  #move(source: RawPath, place: RawPath, planned: Extract<PlannedMove, { is: 'move' }>): void {
    this.counts[this.#options.copies ? 'copied' : 'moved'] += 1;
    const change = {
      source_path: source,
      target_path: place,
      old_target: planned.oldTarget,
      new_target: planned.target,
      replaced_target: planned.replaced,
    };
    this.#lines.append(jsonLine(change, this.#more));
  }

  #fail(source: RawPath, place: RawPath, error: string): void {
    this.errors.push({ source_path: shownPath(source), target_path: shownPath(place), error });
  }
}

function obstacleOf(look: () => string | undefined): string | undefined {
  try {
    return look();
  } catch (error) {
    return reasonText(error);
  }
}

interface Ways {
  /** The number of the file system from which links are moved. */
  readonly device: number;
  /** The number of the file system to which links are moved. */
  readonly toDevice: number;
  /** How many directories must be created: the destination, and its missing parents. */
  readonly newDirectories: number;
}

/** The file systems of `source` and `destination`, or why links cannot be moved between them. */
function waysOf(
  source: RawPath,
  destination: RawPath,
  copies: boolean,
  pulse: Pulse,
): Ways | { readonly obstacle: string } {
  let newDirectories = 0;
  let place = destination;
  while (lstatSync(diskPath(place), { throwIfNoEntry: false }) === undefined) {
    place = path.posix.dirname(place);
    newDirectories += 1;
  }
  const toDevice = deviceToWriteOn(place, pulse);
  if (typeof toDevice === 'object') return toDevice;
  const device = copies ? lstatSync(diskPath(source)).dev : deviceToWriteOn(source, pulse);
  return typeof device === 'object' ? device : { device, toDevice, newDirectories };
}
