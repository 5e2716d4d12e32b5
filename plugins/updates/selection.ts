// What the release selector of a service means for updates: whether it blocks them, and what a request installs
// instead.
import { Problem } from '#core';
import type { InstallSelector } from '../installs/contract.ts';
import { isNews, isSameVersion } from './version-order.ts';

export type BlockedBy = 'pinned_version' | 'commit' | 'branch' | 'release';

const REASONS = { pinned: 'pinned_version', commit: 'commit', branch: 'branch', release: 'release' } as const;
/** The setting that keeps the service from updates; null when updates are checked for. */
export function blockedBy({ kind }: InstallSelector): BlockedBy | null {
  return kind in REASONS ? REASONS[kind as keyof typeof REASONS] : null;
}

export function blockedMessage(processName: string, setting: string): string {
  return `${processName} stays where ${setting} keeps it; change ${setting} to update it, or override it once`;
}

const TARGETS = ['configured', 'latest', 'prerelease', 'nightly'] as const;
export type UpdateTarget = (typeof TARGETS)[number];

/** Throws a Problem 400 for an unknown target. */
export function targetOf(given: string): UpdateTarget {
  const target = TARGETS.find(one => one === given);
  if (target === undefined) throw new Problem(400, `target must be one of ${TARGETS.join(', ')}`);
  return target;
}

/** What a request installs. Without a target: what the block selects, or the latest release if that blocks updates. */
export function selectorFor(configured: InstallSelector, target: UpdateTarget | undefined): InstallSelector {
  if (target === 'configured') return configured;
  if (target !== undefined) return { kind: target };
  return blockedBy(configured) === null ? configured : { kind: 'latest' };
}

/** Whether a release is an update. Any other nightly build is one, because most of their versions have no order. */
export function isUpdate({ kind }: InstallSelector, offered: string, installed: string | null): boolean {
  if (kind === 'nightly' && installed !== null) return !isSameVersion(offered, installed);
  return isNews(offered, installed);
}

export type TargetKind = 'release' | 'branch' | 'commit';

export function targetKindOf({ kind }: InstallSelector): TargetKind {
  return kind === 'branch' || kind === 'commit' ? kind : 'release';
}

const COMMIT_DIGITS = 12;

/** Whether the selector selects the version; undefined when only the source could tell. */
export function isSelected(selector: InstallSelector, version: string | null): boolean | undefined {
  if (version === null) return undefined;
  switch (selector.kind) {
    case 'branch':
      return version.startsWith(`${selector.branch}-`);
    case 'commit':
      return version === `commit-${selector.commit.slice(0, COMMIT_DIGITS)}`;
    case 'release':
      return isSameVersion(version, selector.release);
    case 'pinned':
      return isSameVersion(version, selector.version);
    default:
      return undefined;
  }
}
