// Which release a block selects, which files of its folder stay, and how much of the machine installations use.
import { availableParallelism } from 'node:os';
import t from 'tap';
import type { NamedBlock } from '../../../core/contract/config.ts';
import type { OwnTarget } from '../../../plugins/installs/install-target.ts';
import { keptPlaces } from '../../../plugins/installs/kept-places.ts';
import { installLimits } from '../../../plugins/installs/limits.ts';
import { selectorOf } from '../../../plugins/installs/selectors.ts';

t.test('a pinned version wins over a commit, a branch and a release', t => {
  const commit_sha = 'a'.repeat(40);
  const all = { pinned_version: '1.2', commit_sha, branch_enabled: true, branch: 'dev', release_version_enabled: true };
  for (const [block, selector] of [
    [
      { ...all, release_version: 'v1' },
      { kind: 'pinned', version: '1.2' },
    ],
    [
      { ...all, pinned_version: ' ', release_version: 'v1' },
      { kind: 'commit', commit: commit_sha },
    ],
    [
      { branch_enabled: true, branch: '', release_version_enabled: true },
      { kind: 'branch', branch: 'main' },
    ],
    [
      { release_version_enabled: true, release_version: 'v1' },
      { kind: 'release', release: 'v1' },
    ],
    [{ release_version_enabled: true, release_version: 'Nightly' }, { kind: 'nightly' }],
    [{ release_version_enabled: true, release_version: 'prerelease' }, { kind: 'prerelease' }],
    [{ release_version_enabled: true, release_version: '' }, { kind: 'latest' }],
    [{ release_version_enabled: false, release_version: 'v1', branch: 'dev' }, { kind: 'latest' }],
    [{ pinned_version: 'latest' }, { kind: 'latest' }],
    [{}, { kind: 'latest' }],
  ] as const)
    t.same(selectorOf(block), selector);
  t.end();
});

t.test('excluded files and data of services stay in the folder', t => {
  const named = (block: Record<string, unknown>) => ({ block }) as unknown as NamedBlock;
  const kept = (block: Record<string, unknown>, built: string[] = []) => {
    const own = named({ config_dir: '/app', clear_on_update: true, ...block });
    const others = [named({ config_dir: '/app/other', log_file: '/elsewhere/app.log' })];
    const { keeps, clears } = keptPlaces({ block: own, built } as unknown as OwnTarget, '/app', [own, ...others]);
    return { keeps: [...keeps].sort(), clears };
  };
  t.same(kept({ exclude_dirs: ['/app/data', 'cache/old', '/srv'] }), {
    keeps: ['cache/old', 'data', 'other'],
    clears: true,
  });
  t.same(kept({ config_file: '/app/config.yml', log_file: '/app/log/app.log' }).keeps, [
    'config.yml',
    'log/app.log',
    'other',
  ]);
  t.same(kept({ exclude_dirs: ['/app/venv', '/app/data'] }, ['venv']).keeps, ['data', 'other'], 'builds make it anew');
  for (const place of ['/app', '/app/', '/', '/app/..'])
    t.equal(kept({ exclude_dirs: [place] }).clears, false, `${place} is kept, and the folder with it`);
  t.equal(kept({ clear_on_update: undefined }).clears, false, 'only what says so is cleared');
  t.end();
});

t.test('the number of parallel installations follows the machine', t => {
  const few = installLimits(1);
  t.equal(few.workers, 1);
  const many = installLimits(100);
  t.ok(many.workers >= 1 && many.workers <= Math.max(1, Math.min(8, availableParallelism() / 2)));
  t.ok(many.childJobs >= 1 && many.childJobs <= 8);
  t.ok(many.networkJobs >= 2 && many.networkJobs <= 16);
  t.end();
});
