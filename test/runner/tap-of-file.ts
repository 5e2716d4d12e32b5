// The module that test files in a shared process import as `tap`: the root test of the running file.
import type { Test } from 'tap';
import { rootTest } from './root-test.ts';

/** Suites that several files share are loaded only once, so the root test is looked up at each use. */
export default new Proxy({} as Test, {
  get(_, name) {
    const test = rootTest();
    const member: unknown = Reflect.get(test, name);
    return typeof member === 'function' ? member.bind(test) : member;
  },
  set: (_, name, value) => Reflect.set(rootTest(), name, value),
});
