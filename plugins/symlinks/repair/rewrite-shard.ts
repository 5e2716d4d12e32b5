// The shard of the rewrites of a repair: plans which targets are rewritten.

import type { RewriteRule } from '../contract.ts';
import { joined, jsonLine, moreMembers, type RawPath, shownPath } from '../places/raw-path.ts';
import type { LineBuffer } from '../tasks/line-buffer.ts';
import type { Pulse } from '../tasks/pulse.ts';
import {
  type ItemError,
  type Link,
  type VisitAnswers,
  type Visitor,
  type VisitRequest,
  visits,
} from '../walk/visit.ts';
import { headLine } from './plan.ts';
import { deviceToWriteOn, type PlannedRewrite, plannedRewrite, type RewriteOptions } from './planned-link.ts';

export interface RewriteShardOptions extends RewriteOptions {
  /** The rules as users see them, in the same order. */
  readonly shownRules: readonly RewriteRule[];
  /** Whether the lines are a plan, with head lines, or only a report. */
  readonly withHeads: boolean;
}

export function rewriteShard(options: RewriteShardOptions, pulse: Pulse): (request: VisitRequest) => VisitAnswers {
  const matched = options.shownRules.map(rule => moreMembers({ matched_rule: rule }));
  /** Begins the lines of a directory, unless nothing can be written into it. */
  const begin = (directory: RawPath, lines: LineBuffer): { readonly obstacle?: string } => {
    const device = deviceToWriteOn(directory, pulse);
    if (typeof device === 'object') return device;
    if (options.withHeads) lines.append(headLine({ device, directory }));
    return {};
  };
  const visitor: Visitor = (directory, links, targets, lines) => {
    const counts = { changed: 0, skipped_unchanged: 0, skipped_nonexistent_target: 0 };
    const errors: ItemError[] = [];
    const fail = (link: Link, error: string): void => {
      errors.push({ link_path: shownPath(joined(directory.shown, link.name)), error });
    };
    // The head is written before the first change only, because most directories have none.
    let begun: { readonly obstacle?: string } | undefined;
    const rewrite = (link: Link, { target, rule }: Extract<PlannedRewrite, { is: 'rewrite' }>): void => {
      begun ??= begin(directory.real, lines);
      if (begun.obstacle !== undefined) {
        fail(link, begun.obstacle);
        return;
      }
      counts.changed += 1;
      const change = { link_path: joined(directory.shown, link.name), old_target: link.target, new_target: target };
      lines.append(jsonLine(change, matched[rule]));
    };
    for (const link of links) {
      const planned = plannedRewrite(directory.real, link, options, targets);
      if (planned.is === 'rewrite') rewrite(link, planned);
      else if (planned.is === 'error') fail(link, planned.error);
      else if (planned.is === 'broken') counts.skipped_nonexistent_target += 1;
      else counts.skipped_unchanged += 1;
    }
    return { counts, errors };
  };
  return visits(visitor, pulse);
}
