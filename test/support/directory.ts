// Makes a directory for a test, and removes it after everything else that the test tears down.

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
