// Directories of a test, removed after everything else that the test tears down.

type Fixtures = Pick<typeof import('tap')['t'], 'testdir' | 'teardown'>;

/**
 * As `t.testdir`, whose removal comes before the teardowns that are registered after its first call: a host that is
 * still running would write into what is being removed.
 */
export function testDir(t: Fixtures, content?: Parameters<Fixtures['testdir']>[0]): string {
  t.teardown(() => undefined);
  return t.testdir(content);
}
