// Which release a block selects: a pinned version, a commit, a branch or a release, in this order, else the latest.
import { z } from 'zod';
import type { InstallSelector } from './contract.ts';

/** Any value, because the options of templates check it. */
const selecting = z.unknown().meta({ decidesProgram: true });
/** A program that is built from sources may need other services than a release does. */
const selectingSources = selecting.meta({ relation: 'read' });

export const selectorKeys = z.looseObject({
  branch: selecting,
  branch_enabled: selectingSources,
  commit_sha: selectingSources,
  release_version: selecting,
  release_version_enabled: selecting,
  pinned_version: selecting,
});

type Block = Readonly<Record<string, unknown>>;

const MOVING = ['latest', 'prerelease', 'nightly'] as const;

export function selectorOf(block: Block): InstallSelector {
  const text = (option: string): string => {
    const value = Object.hasOwn(block, option) ? block[option] : undefined;
    return typeof value === 'string' ? value.trim() : '';
  };
  const version = text('pinned_version');
  if (version !== '') return moving(version) ?? { kind: 'pinned', version };
  const commit = text('commit_sha');
  if (commit !== '') return { kind: 'commit', commit };
  if (block.branch_enabled === true) return { kind: 'branch', branch: text('branch') || 'main' };
  const release = text('release_version');
  if (block.release_version_enabled !== true || release === '') return { kind: 'latest' };
  return moving(release) ?? { kind: 'release', release };
}

/** Whether a block names a branch or a commit, even if another of its keys takes precedence. */
export function selectsSources({ branch_enabled: branch, commit_sha: commit }: Block): boolean {
  return branch === true || (typeof commit === 'string' && commit.trim() !== '');
}

const SETTINGS: Readonly<Partial<Record<InstallSelector['kind'], keyof typeof selectorKeys.shape>>> = {
  pinned: 'pinned_version',
  commit: 'commit_sha',
  branch: 'branch_enabled',
  release: 'release_version',
};

/** The key of a block that selects such a release; undefined for `latest`, `prerelease` and `nightly`. */
export function settingOf({ kind }: InstallSelector): string | undefined {
  return SETTINGS[kind];
}

/** The selector in words for the log. */
export function selectorText(selector: InstallSelector): string {
  if (selector.kind === 'release') return selector.release;
  if (selector.kind === 'pinned') return selector.version;
  if (selector.kind === 'branch') return `the branch ${selector.branch}`;
  return selector.kind === 'commit' ? `the commit ${selector.commit}` : `the ${selector.kind} release`;
}

function moving(text: string): InstallSelector | undefined {
  const kind = MOVING.find(word => word === text.toLowerCase());
  return kind && { kind };
}
