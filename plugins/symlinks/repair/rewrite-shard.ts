// The shard of the rewrites of a repair: plans which targets are rewritten.

import type { RewriteRule } from '../contract.ts';
import { joined, jsonLine, moreMembers, shownPath } from '../places/raw-path.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { type ItemError, type VisitAnswers, type Visitor, type VisitRequest, visits } from '../walk/visit.ts';
import { headLine } from './plan.ts';
import { deviceToWriteOn, plannedRewrite, type RewriteOptions } from './planned-link.ts';

export interface RewriteShardOptions extends RewriteOptions {
  /** The rules as users see them, in the same order. */
  readonly shownRules: readonly RewriteRule[];
  /** Whether the lines are a plan, with head lines, or only a report. */
  readonly withHeads: boolean;
}

export function rewriteShard(options: RewriteShardOptions, pulse: Pulse): (request: VisitRequest) => VisitAnswers {
  const matched = options.shownRules.map(rule => moreMembers({ matched_rule: rule }));
  const visitor: Visitor = (directory, links, targets, lines) => {
    const counts = { changed: 0, skipped_unchanged: 0, skipped_nonexistent_target: 0 };
    const errors: ItemError[] = [];
    let device: ReturnType<typeof deviceToWriteOn> | undefined;
    for (const link of links) {
      const place = joined(directory.shown, link.name);
      const planned = plannedRewrite(directory.real, link, options, targets);
      if (planned.is === 'unchanged') counts.skipped_unchanged += 1;
      else if (planned.is === 'broken') counts.skipped_nonexistent_target += 1;
      else if (planned.is === 'error') errors.push({ link_path: shownPath(place), error: planned.error });
      else if (planned.is === 'rewrite') {
        const isFirst = device === undefined;
        device ??= deviceToWriteOn(directory.real, pulse);
        if (typeof device === 'object') {
          errors.push({ link_path: shownPath(place), error: device.obstacle });
          continue;
        }
        if (isFirst && options.withHeads) lines.append(headLine({ device, directory: directory.real }));
        counts.changed += 1;
        const change = { link_path: place, old_target: link.target, new_target: planned.target };
        lines.append(jsonLine(change, matched[planned.rule]));
      }
    }
    return { counts, errors };
  };
  return visits(visitor, pulse);
}
