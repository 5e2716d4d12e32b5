// The root test of the file that a shared process runs at this moment.
import type { Test } from 'tap';

let current: Test | undefined;

export function setRootTest(test: Test): void {
  current = test;
}

/** Throws where no file runs. */
export function rootTest(): Test {
  if (current === undefined) throw new Error('no test file runs in this process');
  return current;
}
