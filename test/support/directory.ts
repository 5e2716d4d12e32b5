// Makes a directory for a test, and removes it after everything else that the test tears down.
import { spawnSync } from 'node:child_process';

type Fixtures = Pick<typeof import('tap')['t'], 'testdir' | 'teardown'>;

/**
 * Same as `t.testdir`, but the directory is removed last. tap removes it before the teardowns that are registered
 * later, unless one was registered earlier, so this function registers an empty one first. Otherwise a host that is
 * still running would write into a directory that is being removed.
 */
export function testDir(t: Fixtures, content?: Parameters<Fixtures['testdir']>[0]): string {
  t.teardown(() => undefined);
  return t.testdir(content);
}

/**
 * Same as `testDir`, but in memory where the test may mount that: for thousands of files that need not outlive the
 * machine. Some file systems look the longer for a new file's inode, the more files were removed lately. At most once
 * per test.
 */
export function memoryDir(t: Fixtures): string {
  const directory = testDir(t, {});
  mountMemory(t, directory);
  return directory;
}

/** Everything in the directory is gone after the test, whatever is still open. */
export function mountMemory(t: Pick<Fixtures, 'teardown'>, directory: string): void {
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'none', directory], { stdio: 'ignore' });
  if (status === 0) t.teardown(() => void spawnSync('umount', ['--lazy', directory]));
}
