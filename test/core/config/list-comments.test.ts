// Comments in a list after a save that removes, adds, moves and changes items at once: each stays above or beside its
// item.
import fc from 'fast-check';
import t from 'tap';
import { editText } from '../../../core/config/edit.ts';
import { type ConfigFormat, parseConfig } from '../../../core/config/load.ts';
import { deepEqual } from '../../../core/kit/deep-equal.ts';

/** An item is its name alone, or an object with that name. */
interface Item {
  readonly name: string;
  readonly value: number | undefined;
}

/** How an item is written in the text. */
interface Look {
  readonly ownLine: boolean;
  readonly blockComment: boolean;
  readonly commaFirst: boolean;
  readonly orphan: boolean;
}

const looksOf = (ownLine: fc.Arbitrary<boolean>) =>
  fc.array(fc.record({ ownLine, blockComment: fc.boolean(), commaFirst: fc.boolean(), orphan: fc.boolean() }), {
    minLength: 7,
    maxLength: 7,
  });
const before = fc
  .array(fc.option(fc.nat(3), { nil: undefined }), { minLength: 1, maxLength: 6 })
  .map(values => values.map((value, index): Item => ({ name: `old${index}`, value })));
const deeds = fc.array(
  fc.record({ deed: fc.constantFrom('remove', 'add', 'move', 'change'), at: fc.nat(9), to: fc.nat(9) }),
  { minLength: 1, maxLength: 5 },
);

interface Deed {
  readonly deed: string;
  readonly at: number;
  readonly to: number;
}

function after(items: readonly Item[], done: readonly Deed[]): Item[] {
  let result = [...items];
  for (const [index, { deed, at, to }] of done.entries()) {
    const place = at % Math.max(1, result.length);
    const item = result[place];
    if (deed === 'add')
      result.splice(to % (result.length + 1), 0, { name: `new${index}`, value: to % 2 ? to : undefined });
    else if (item === undefined) continue;
    else if (deed === 'remove') result = result.toSpliced(place, 1);
    else if (deed === 'move') result = result.toSpliced(place, 1).toSpliced(to % result.length, 0, item);
    else if (item.value !== undefined) result[place] = { ...item, value: 100 + index };
  }
  return result;
}

const dataOf = ({ name, value }: Item) => (value === undefined ? name : { name, value });
const listOf = (items: readonly Item[]) => items.map(dataOf);

function jsonText(items: readonly Item[], looks: readonly Look[]): string {
  let text = '{ "list": [';
  for (const [index, item] of items.entries()) {
    const { ownLine, blockComment, commaFirst, orphan } = looks[index] as Look;
    const isLast = index === items.length - 1;
    // Before something else on the same line, only a comment with an end is possible.
    const nextOwn = (looks[index + 1] as Look).ownLine;
    const inLine = blockComment || !ownLine;
    const above = inLine ? `/* above <${item.name}> */ ` : `// above <${item.name}>\n    `;
    const behind = blockComment || !nextOwn ? ` /* behind <${item.name}> */` : ` // behind <${item.name}>`;
    const nextComma = looks[index + 1]?.commaFirst && nextOwn;
    const comma = isLast || nextComma ? '' : ',';
    const lead = index > 0 && commaFirst && ownLine ? ', ' : '';
    const nobody = ownLine && orphan && lead === '' ? '\n    // nobody\n' : '';
    const isCommaFirst = lead !== '' && !inLine;
    text += ownLine ? `${nobody}\n    ${lead}` : ' ';
    text += `${isCommaFirst ? `/* above <${item.name}> */ ` : above}${JSON.stringify(dataOf(item))}`;
    text += nextOwn ? `${comma}${behind}` : `${behind}${comma}`;
  }
  return `${text}${(looks[items.length] as Look).ownLine ? '\n  ' : ''} ], "last": 1 }\n`;
}

function yamlText(items: readonly Item[], looks: readonly Look[]): string {
  const lines = items.flatMap(({ name, value }, index) => {
    const nobody = looks[index]?.orphan && index > 0 ? ['', '  # nobody', ''] : [];
    const rest = value === undefined ? [] : [`    value: ${value}`];
    return [
      ...nobody,
      `  # above <${name}>`,
      `  - ${value === undefined ? name : `name: ${name}`} # behind <${name}>`,
      ...rest,
    ];
  });
  return ['list:', ...lines, 'last: 1', ''].join('\n');
}

function flowText(items: readonly Item[], looks: readonly Look[]): string {
  const lines = items.flatMap((item, index) => {
    const comma = index < items.length - 1 || looks[0]?.orphan ? ',' : '';
    return [`  # above <${item.name}>`, `  ${JSON.stringify(dataOf(item))}${comma} # behind <${item.name}>`];
  });
  return ['list: [', ...lines, ' ]', 'last: 1', ''].join('\n');
}

/** A list that is the first item of another list, whose own first item has no line above it for a comment. */
function nestedText(items: readonly Item[], looks: readonly Look[]): string {
  const [, , first = '', ...lines] = yamlText(items, looks).trimEnd().split('\n');
  const last = lines.pop();
  return ['list:', `  - ${first.trimStart()}`, ...lines.map(line => line && `  ${line}`), last, ''].join('\n');
}

/** The names in the text, in order: of items, and in comments of the items to which they belong. */
function namesIn(text: string): readonly string[] {
  return text.match(/(?:above|behind) <\w+>|(?:old|new)\d+/g) ?? [];
}

/** Why the text is wrong; null when it is right. */
function faultOf(text: string, format: ConfigFormat, items: readonly Item[], wanted: readonly Item[]): string | null {
  const value = listOf(wanted);
  const edited = editText(text, format, [{ path: ['list'], value }]);
  if (!deepEqual(parsed(edited, format), { list: value, last: 1 })) return `has other values:\n${edited}`;
  const names = namesIn(edited);
  for (const { name } of wanted) {
    const index = names.indexOf(name);
    const isOld = items.some(item => item.name === name);
    const [above, behind] = [names[index - 1], names[index + 1]];
    if (isOld && (above !== `above <${name}>` || behind !== `behind <${name}>`)) return `loses ${name}:\n${edited}`;
    const takes = [above, behind].find(other => wanted.some(({ name: kept }) => other?.includes(`<${kept}>`)));
    if (!isOld && names.filter(other => other === takes).length > 1) return `repeats ${takes}:\n${edited}`;
  }
  const nobodies = (all: string) => all.split('nobody').length;
  const isSomethingKept = wanted.some(({ name }) => name.startsWith('old'));
  if (isSomethingKept && nobodies(edited) !== nobodies(text)) return `loses a comment of nobody:\n${edited}`;
  return null;
}

const parsed = (text: string, format: ConfigFormat) => parseConfig(text, 'x', format);

const TEXTS: readonly [string, ConfigFormat, typeof jsonText, fc.Arbitrary<boolean>][] = [
  ['JSON with an item on each line', 'json', jsonText, fc.constant(true)],
  ['JSON on one line', 'json', jsonText, fc.constant(false)],
  ['YAML', 'yaml', yamlText, fc.constant(true)],
  ['YAML in brackets', 'yaml', flowText, fc.constant(true)],
];

const property = (
  format: ConfigFormat,
  textOf: typeof jsonText,
  ownLine: fc.Arbitrary<boolean>,
  fault: typeof faultOf,
) =>
  fc.property(before, looksOf(ownLine), deeds, (items, looks, done) => {
    const text = textOf(items, looks);
    if (!deepEqual(parsed(text, format), { list: listOf(items), last: 1 })) throw new Error(`not a text: ${text}`);
    const wanted = after(items, done);
    const found = fault(text, format, items, wanted);
    if (found !== null) throw new Error(`${text}\nto ${JSON.stringify(listOf(wanted))} ${found}`);
  });

for (const [what, format, textOf, ownLine] of TEXTS)
  t.test(`${what}: comments stay with their items`, async t => {
    t.doesNotThrow(() => fc.assert(property(format, textOf, ownLine, faultOf), { numRuns: 500 }));
  });

t.test('YAML list as an item of another list: comments stay with their items', async t => {
  const fault: typeof faultOf = (text, _format, items, wanted) => {
    const value = [listOf(wanted)];
    const edited = editText(text, 'yaml', [{ path: ['list'], value }]);
    if (!deepEqual(parsed(edited, 'yaml'), { list: value, last: 1 })) return `has other values:\n${edited}`;
    const names = namesIn(edited);
    const isOld = ({ name }: Item) => items.some(item => item.name === name);
    for (const { name } of wanted.filter(isOld)) {
      const index = names.indexOf(name);
      const hasAbove = name === items[0]?.name || names[index - 1] === `above <${name}>`;
      if (!hasAbove || names[index + 1] !== `behind <${name}>`) return `loses ${name}:\n${edited}`;
    }
    return null;
  };
  const nested = fc.property(before, looksOf(fc.constant(true)), deeds, (items, looks, done) => {
    const text = nestedText(items, looks);
    if (!deepEqual(parsed(text, 'yaml'), { list: [listOf(items)], last: 1 })) throw new Error(`not a text: ${text}`);
    const wanted = after(items, done);
    const found = fault(text, 'yaml', items, wanted);
    if (found !== null) throw new Error(`${text}\nto ${JSON.stringify(listOf(wanted))} ${found}`);
  });
  t.doesNotThrow(() => fc.assert(nested, { numRuns: 500 }));
});

t.test('a comment at the end of a line with several items is kept with each of them', async t => {
  const fault: typeof faultOf = (text, format, items, wanted) => {
    const value = listOf(wanted);
    const edited = editText(text, format, [{ path: ['list'], value }]);
    if (!deepEqual(parsed(edited, format), { list: value, last: 1 })) return `has other values:\n${edited}`;
    const countOf = (name: string) => namesIn(edited).filter(other => other.includes(name)).length;
    const lost = items.filter(({ name }) => wanted.some(kept => kept.name === name) && countOf(name) < 3);
    return lost.length > 0 ? `loses ${lost.map(({ name }) => name)}:\n${edited}` : null;
  };
  t.doesNotThrow(() => fc.assert(property('json', jsonText, fc.boolean(), fault), { numRuns: 500 }));
});
