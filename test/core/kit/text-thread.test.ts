// Large texts of others are parsed in a thread, within limits, while the host's own thread goes on.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { Problem } from '../../../core/contract/problem.ts';
import { LARGE_TEXT_BYTES, readText } from '../../../core/kit/text-thread.ts';
import { testDir } from '../../support/directory.ts';
import { moduleOfHost } from '../../support/host-program.ts';

const READER = `
import { isMainThread } from 'node:worker_threads';
import { Problem } from ${JSON.stringify(moduleOfHost('core/contract/problem.ts'))};
export const place = text => ({ isMainThread, length: text.length });
export const parse = text => JSON.parse(text);
export const forever = () => { for (;;); };
export const hog = () => { const all = []; for (;;) all.push(new Array(10_000).fill(all)); };
export const many = () => Array.from({ length: 200_000 }, () => ({}));
export const refuse = () => { throw new Problem(422, 'line 3 is wrong', { extra: { line: 3 } }); };
export const fail = () => { throw new TypeError('a fault of the reader'); };
export const exit = () => process.exit(3);
export const paused = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
`;
const large = ' '.repeat(LARGE_TEXT_BYTES + 1);
type Reader = Readonly<Record<string, (text: string) => unknown>>;

t.test('large texts are parsed in a thread, and only data comes back', async t => {
  const { href } = pathToFileURL(path.join(testDir(t, { 'reader.mjs': READER }), 'reader.mjs'));
  const reader = (await import(href)) as Reader;
  const read = (name: string, text: string) => readText(href, reader[name] as Reader[string], text);

  t.same(await read('place', 'short'), { isMainThread: true, length: 5 }, 'a short text is read at once');
  t.same(await read('place', large), { isMainThread: false, length: large.length }, 'a large one in the thread');

  const data = (await read('parse', `${large}{"__proto__":{"access":"public"},"list":[{"a":1}]}`)) as Reader;
  t.same(Object.keys(data), ['__proto__', 'list'], 'a name is data');
  t.equal(Object.getPrototypeOf(data), null);
  t.equal((data as { access?: unknown }).access, undefined, 'and answers for nothing');

  await t.rejects(read('refuse', large), { status: 422, message: 'line 3 is wrong', extra: { line: 3 } });
  await t.rejects(read('refuse', large), Problem);
  await t.rejects(read('fail', large), { message: 'a fault of the reader' });
  await t.rejects(read('many', large), { status: 413, message: /100000 values/ });
  await t.rejects(read('hog', large), { status: 413, message: /too much (memory|time)/ });
  await t.rejects(read('exit', large), { status: 503, message: /The thread that reads texts .* ended; try again/ });

  let turns = 0;
  const clock = setInterval(() => {
    turns += 1;
  }, 1);
  const [late, next] = await Promise.allSettled([read('forever', large), read('place', large)]);
  clearInterval(clock);
  t.match(late, { status: 'rejected', reason: { status: 413, message: /too much time/ } });
  t.match(next, { status: 'fulfilled', value: { isMainThread: false } }, 'the next text has a thread of its own');
  t.ok(turns > 20, 'the event loop went on');

  t.equal(await read('paused', large), 'timed-out', 'time in which the machine does other work is not counted');

  const waiting = Array.from({ length: 150 }, () => read('place', large));
  const outcomes = (await Promise.allSettled(waiting)).map(({ status }) => status);
  t.equal(outcomes.filter(status => status === 'fulfilled').length, 101, 'no more wait than may');
});
