// What is imported as `tap` in a shared process: the root test of the file that runs.
import type { Test } from 'tap';
import { rootTest } from './root-test.ts';

/** Suites that several files share are loaded once, so that the test is looked up at each use. */
export default new Proxy({} as Test, {
  get(_, name) {
    const test = rootTest();
    const member: unknown = Reflect.get(test, name);
    return typeof member === 'function' ? member.bind(test) : member;
  },
  set: (_, name, value) => Reflect.set(rootTest(), name, value),
});
