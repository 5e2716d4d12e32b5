// Logs of long lines in the console: a search marks only so many matches, and an open log holds only so many characters.
import { existsSync } from 'node:fs';
import t from 'tap';

const place = (name: string) => new URL(`../../../plugins/console/page/${name}.ts`, import.meta.url);
const skip = !existsSync(place('log-line'));

t.test('a search marks the first matches of a line, and leaves the rest as text', { skip }, async t => {
  t.intercept(globalThis, 'document' as never, { value: { createElement: createMark }, configurable: true });
  // Its types are those of a browser.
  const { markedText } = await import(place('log-line').href);
  t.equal(String(markedText('one two one', 'one').join('|')), '|<one>| two |<one>|');
  const line = 'a'.repeat(65_536);
  const parts = markedText(line, 'a') as unknown[];
  t.ok(parts.length < 1_000, `${parts.length} parts`);
  t.equal(parts.join('').replaceAll(/[<>]/g, ''), line, 'nothing is left out');
});

t.test('an open log holds 64 Mi characters, of which the oldest go first', { skip }, async t => {
  const { LogFeed } = await import(place('log-feed').href);
  const sizes = [1_000, 200, 10];
  const texts = sizes.map((count, index) => `${String(index).repeat(65_535)}\n`.repeat(count));
  const api = { get: async () => pageOf(texts.shift() ?? '') };
  const feed = new LogFeed(api, 'App');
  t.teardown(() => feed.close());
  const told: unknown[] = [];
  const all = new Promise<void>(resolve => {
    feed.changed.add((added: unknown) => told.push(added) === sizes.length && resolve());
  });
  feed.open();
  await all;
  t.same(told, ['all', 'all', 10], 'only the second read was too much');
  t.equal(feed.lines.length, 1_024 + 10);
  t.equal(feed.lines.at(-1)[0], '2');
  t.equal(feed.isCut, true);
});

function pageOf(chunk: string): object {
  return { size: 0, cursor: 1, chunk, reset: false, file_id: 'a' };
}

function createMark(): object {
  let text = '';
  return { append: (child: string) => (text += child), toString: () => `<${text}>` };
}
