// The shard of one migration: plans which links below its root are moved or copied, and reports obstacles.
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { reasonText } from '#kit/error-text';
import { diskPath, joined, jsonLine, moreMembers, type RawPath, shownPath } from '../places/raw-path.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { type Link, type VisitAnswers, type Visitor, type VisitRequest, visits } from '../walk/visit.ts';
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
  const { index, copies, shown, withHeads } = options;
  const { from = '', to = '' } = options.migrations[index] ?? {};
  const names = { from_root: shownPath(shown.from), to_root: shownPath(shown.to) };
  const operation = copies ? 'copy' : 'move';
  const visitor: Visitor = (directory, links, targets, lines) => {
    const counts = { moved: 0, copied: 0, skipped_nonexistent_target: 0, skipped_existing_destination: 0 };
    const errors: object[] = [];
    const planner = new MovePlanner(options, pulse, targets);
    const below = directory.real === from ? '' : directory.real.slice(from.length + 1);
    let more: RawPath | undefined;
    let obstacle = obstacleOf(() => planner.obstacle(index, directory.real));
    const planOf = (link: Link): PlannedMove =>
      obstacle === undefined ? planner.plan(index, directory.real, link) : { is: 'error', error: obstacle };
    for (const link of links) {
      const source = joined(directory.shown, link.name);
      const place = joined(joined(shown.to, below), link.name);
      const fail = (error: string): void => {
        errors.push({ source_path: shownPath(source), target_path: shownPath(place), error });
      };
      try {
        const planned = planOf(link);
        if (planned.is === 'broken') counts.skipped_nonexistent_target += 1;
        else if (planned.is === 'existing') counts.skipped_existing_destination += 1;
        else if (planned.is === 'error') fail(planned.error);
        else if (planned.is === 'move') {
          if (more === undefined) {
            const ways = waysOf(directory.real, planner.destinationOf(index, directory.real), copies, pulse);
            if ('obstacle' in ways) {
              obstacle = ways.obstacle;
              fail(obstacle);
              continue;
            }
            const { device, toDevice } = ways;
            if (withHeads)
              lines.append(headLine({ device, directory: directory.real, move: { from, to, below, toDevice } }));
            const made = ways.newDirectories > 0 && { new_directories: ways.newDirectories };
            more = moreMembers({ operation, ...names, ...made });
          }
          counts[copies ? 'copied' : 'moved'] += 1;
          const change = {
            source_path: source,
            target_path: place,
            old_target: planned.oldTarget,
            new_target: planned.target,
            replaced_target: planned.replaced,
          };
          lines.append(jsonLine(change, more));
        }
      } catch (error) {
        fail(reasonText(error));
      }
    }
    return { counts, errors };
  };
  return visits(visitor, pulse);
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
