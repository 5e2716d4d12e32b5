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

function createMark(): object {
  let text = '';
  return { append: (child: string) => (text += child), toString: () => `<${text}>` };
}
