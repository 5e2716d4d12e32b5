// The shard of a backup: makes the entries of the links in each directory.
import { entryLinesIn } from '../manifest/entry-line.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { type VisitAnswers, type Visitor, type VisitRequest, visits } from '../walk/visit.ts';

export interface BackupShardOptions {
  /** Whether links with missing targets are recorded too; targets are then not looked at. */
  readonly includeBroken: boolean;
}

export function backupShard(
  { includeBroken }: BackupShardOptions,
  pulse: Pulse,
): (request: VisitRequest) => VisitAnswers {
  const visitor: Visitor = (directory, links, targets, lines) => {
    const counts = { recorded_entries: 0, skipped_broken: 0 };
    const entryLine = entryLinesIn(directory.shown);
    for (const { name, target } of links) {
      const presence = includeBroken ? null : targets.presence(directory.real, target);
      if (presence === 'missing') {
        counts.skipped_broken += 1;
        continue;
      }
      counts.recorded_entries += 1;
      lines.append(entryLine(name, target, presence === 'exists' ? true : null));
    }
    return { counts, errors: [] };
  };
  return visits(visitor, pulse);
}
