// An edit of a configuration text keeps every byte of what did not change, and all comments except those of deleted
// items.
import fc from 'fast-check';
import t from 'tap';
import { editText } from '../../../core/config/edit.ts';
import { type ConfigFormat, parseConfig } from '../../../core/config/load.ts';
import { deepEqual } from '../../../core/kit/deep-equal.ts';

type Tree = { readonly [key: string]: Tree | readonly (number | Tree)[] | number };
type Path = readonly string[];

const key = fc.stringMatching(/^[a-d]$/);
const { tree } = fc.letrec(tie => ({
  tree: fc.dictionary(
    key,
    fc.oneof({ depthSize: 'small' }, fc.integer({ min: 0, max: 99 }), tie('tree'), tie('list')),
    {
      minKeys: 1,
      maxKeys: 4,
      noNullPrototype: true,
    },
  ),
  list: fc.array(fc.oneof(fc.integer({ min: 0, max: 99 }), tie('tree')), { minLength: 1, maxLength: 4 }),
})) as { tree: fc.Arbitrary<Tree> };

/** Lines of a text in which each member and item has a comment above and one behind, and the path of each line. */
function linesOf(value: unknown, at: Path, style: ConfigFormat): string[] {
  const indent = '  '.repeat(at.length + (style === 'json' ? 1 : 0));
  const sign = style === 'json' ? '//' : '#';
  const isList = Array.isArray(value);
  const members = Object.entries(value as object);
  return members.flatMap(([name, member], index) => {
    const path = [...at, name];
    const comma = style === 'json' && index < members.length - 1 ? ',' : '';
    const lead = isList ? (style === 'json' ? '' : '- ') : style === 'json' ? `"${name}": ` : `${name}: `;
    const above = `${indent}${sign} above <${path.join('.')}>`;
    const behind = ` ${sign} behind <${path.join('.')}>`;
    if (typeof member !== 'object') return [above, `${indent}${lead}${member}.0${comma}${behind}`];
    const below = linesOf(member, path, style);
    if (style === 'yaml') return [above, `${indent}${lead.trimEnd()}${behind}`, ...below];
    const [open, close] = Array.isArray(member) ? ['[', ']'] : ['{', '}'];
    return [above, `${indent}${lead}${open}`, ...below, `${indent}${close}${comma}${behind}`];
  });
}

function textOf(root: Tree, format: ConfigFormat): string {
  const lines = linesOf(root, [], format);
  return format === 'json' ? `{\n${lines.join('\n')}\n}\n` : `# nobody\n\n${lines.join('\n')}\n`;
}

function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [[...at, name], ...pathsOf(member, [...at, name])]);
}

/** The value without the member or item at the path. */
function without(value: unknown, [name = '', ...rest]: Path): unknown {
  if (Array.isArray(value)) {
    const index = Number(name);
    return rest.length === 0 ? value.toSpliced(index, 1) : value.with(index, without(value[index], rest));
  }
  const { [name]: member, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...(value as object), [name]: without(member, rest) };
}

function hasTwins(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const members = Object.values(value);
  const texts = new Set(members.map(member => JSON.stringify(member)));
  return (Array.isArray(value) && texts.size < members.length) || members.some(hasTwins);
}

const parsed = (text: string, format: ConfigFormat) => parseConfig(text, 'x', format);
const editsTo = (after: unknown, before: object) => [
  ...Object.entries(after as object).map(([name, value]) => ({ path: [name], value })),
  ...Object.keys(before).flatMap(name => (name in (after as object) ? [] : [{ path: [name], value: undefined }])),
];

for (const format of ['json', 'yaml'] as const) {
  t.test(`${format}: what did not change keeps its bytes`, async t => {
    const identity = fc.property(tree, root => {
      const text = textOf(root, format);
      return editText(text, format, editsTo(structuredClone(root), root)) === text;
    });
    t.doesNotThrow(() => fc.assert(identity, { numRuns: 100 }), 'the identical save is the identity of bytes');

    const deletion = fc.property(tree, fc.nat(), (root, choice) => {
      const paths = pathsOf(root);
      const path = paths[choice % paths.length] ?? [];
      const text = textOf(root, format);
      const wanted = without(root, path);
      // Which of two equal items was removed cannot be told from the result.
      if (hasTwins(root) || hasTwins(wanted)) return true;
      const edited = editText(text, format, editsTo(wanted, root));
      const place = path.join('.');
      const isGone = (line: string) => [`<${place}>`, `<${place}.`].some(mark => line.includes(mark));
      const commentsOf = (lines: string[]) => lines.flatMap(line => /<.*>/.exec(line)?.[0] ?? []);
      const kept = commentsOf(text.split('\n').filter(line => !isGone(line)));
      const parent = path.slice(0, -1).reduce<unknown>((value, name) => (value as Tree)[name], root);
      // An object or list that becomes empty is written on one line.
      const isEmptied = Object.keys(parent as object).length === 1;
      return (
        deepEqual(parsed(edited, format), wanted) &&
        (isEmptied || deepEqual(commentsOf(edited.split('\n')), kept)) &&
        (isEmptied || edited.split('\n').every(line => isOf(text, line, format)))
      );
    });
    t.doesNotThrow(() => fc.assert(deletion, { numRuns: 300 }), 'deleting takes what is deleted with its own comments');

    const change = fc.property(tree, fc.nat(), (root, choice) => {
      const text = textOf(root, format);
      const lines = text.split('\n');
      const numbers = lines.flatMap((line, index) => (/\d\.0/.test(line) ? [index] : []));
      const index = numbers[choice % Math.max(1, numbers.length)];
      if (index === undefined) return true;
      const expected = lines.with(index, (lines[index] ?? '').replace(/\d+\.0/, '100')).join('\n');
      return editText(text, format, editsTo(parsed(expected, format), root)) === expected;
    });
    t.doesNotThrow(() => fc.assert(change, { numRuns: 200 }), 'one changed value changes its own bytes alone');
  });
}

/** Whether the text has the line, apart from the comma that a last member does not have. */
function isOf(text: string, line: string, format: ConfigFormat): boolean {
  const lines = text.split('\n');
  return lines.includes(line) || (format === 'json' && lines.some(other => other.replace(/,( \/\/|$)/, '$1') === line));
}

const lines = (...all: string[]) => all.join('\r\n');

const WRITTEN: readonly { what: string; text: string; edits: [string, unknown][]; becomes: string }[] = [
  {
    what: 'a member that is added below a comment, with the line ends of Windows',
    text: lines('{', '  "a": 1, // one', '  "b": [', '    1 // item', '  ] // two', '}'),
    edits: [
      ['c', 3],
      ['b', [1, 2]],
    ],
    becomes: lines('{', '  "a": 1, // one', '  "b": [', '    1, // item', '    2', '  ], // two', '  "c": 3', '}'),
  },
  {
    what: 'a member that is added to a line with a comment behind it',
    text: '{\n  "a": 1, "b": 2 // two\n}\n',
    edits: [['c', 3]],
    becomes: '{\n  "a": 1, "b": 2, "c": 3 // two\n}\n',
  },
  {
    what: 'the same behind a comma',
    text: '{\n  "a": 1, "b": [1, 2, // two\n  ], // list\n}\n',
    edits: [
      ['b', [1, 2, 3]],
      ['c', 3],
    ],
    becomes: '{\n  "a": 1, "b": [1, 2, 3, // two\n  ], "c": 3, // list\n}\n',
  },
  {
    what: 'a text that begins with a byte order mark',
    text: '\uFEFFa: 1 # one\nb:\n  c: 2\n',
    edits: [
      ['d', { e: 3 }],
      ['a', 2],
    ],
    becomes: '\uFEFFa: 2 # one\nb:\n  c: 2\nd:\n  e: 3\n',
  },
  {
    what: 'a mapping in place of a list that stands right below its key',
    text: 'a:\n  b:\n  - 1\n  - 2\n  c: 3 # three\n',
    edits: [['a', { b: { d: 4 }, c: 3 }]],
    becomes: 'a:\n  b:\n    d: 4\n  c: 3 # three\n',
  },
  {
    what: 'texts that mean something else without quotes',
    text: 'a:\n  b: 1 # one\n',
    edits: [
      ['a', { b: '...', '<<': '\u2028', c: ['yes', '---'] }],
      ['d', { on: 'no' }],
    ],
    becomes: 'a:\n  b: "..." # one\n  "<<": "\\u2028"\n  c:\n    - "yes"\n    - "---"\nd:\n  "on": "no"\n',
  },
  {
    what: 'a set, in the line ends of the file',
    text: lines('a: {b, c} # set', 'd: [1]', ''),
    edits: [['a', { b: 1, c: null }]],
    becomes: lines('a: {b: 1, c} # set', 'd: [1]', ''),
  },
  {
    what: 'the value of a key that has no colon, in the line ends of the file',
    text: lines('? a', '? c', 'd: [1]', ''),
    edits: [['a', 1]],
    becomes: lines('a: 1', 'c: null', 'd: [ 1 ]', ''),
  },
  {
    what: 'a key that is told as such, beside a list in brackets',
    text: '? a # one\n: 1\nd: [1]\n',
    edits: [['b', 2]],
    becomes: '? a # one\n: 1\nd: [1]\nb: 2\n',
  },
];

t.test('an edited text has the wanted values, and no comment hides one of them', async t => {
  for (const { what, text, edits, becomes } of WRITTEN) {
    const format = text.startsWith('{') ? 'json' : 'yaml';
    const all = edits.map(([name, value]) => ({ path: [name], value }));
    t.equal(editText(text, format, all), becomes, what);
    t.same(parsed(becomes, format), { ...parsed(text, format), ...Object.fromEntries(edits) }, `${what}: its values`);
  }
});

t.test('what cannot be written without changing something else is refused', async t => {
  const text = 'a: &shared\n  b: 1\n  c: 2\nd:\n  <<: *shared\n';
  for (const value of [{ b: 1 }, { b: 2, c: 2 }, { e: 3 }])
    t.throws(() => editText(text, 'yaml', [{ path: ['a'], value }]), { status: 400, message: /share an anchor/ });
  t.throws(() => editText(text, 'yaml', [{ path: ['d', 'b'], value: undefined }]), { status: 400, message: /anchor/ });
  const added = editText(text, 'yaml', [{ path: ['d', 'b'], value: 3 }]);
  t.equal(added, `${text}  b: 3\n`, 'a member beside those that are shared can be added');
});

t.test('members that move into an existing section take their comments with them', async t => {
  const from = { frontend: { port: 3_007 }, level: 'DEBUG', tz: 1 };
  const edits = [
    ...Object.entries(from).map(([name, value]) => ({ path: ['new', name], from: ['old', name], value })),
    { path: ['old'], value: undefined },
  ];
  const yamlMembers = [
    '  # mine',
    '  # two',
    '  frontend: # head',
    '    port: 3007 # asked',
    '  # level',
    '  level: DEBUG # it',
  ];
  const yaml = ['old:', ...yamlMembers, '', '  # zone', '  tz: 1', 'new:', '  a: 1 # one', ''].join('\n');
  const moved = ['new:', '  a: 1 # one', ...yamlMembers, '  # zone', '  tz: 1', ''].join('\n');
  t.equal(editText(yaml, 'yaml', edits), moved);
  const jsonMembers = [
    '    // mine',
    '    "frontend": {',
    '      "port": 3007 // asked',
    '    }, // behind',
    '    /* level */',
    '    "level": "DEBUG", // it',
    '    "tz": 1 // zone',
    '  }',
  ];
  const json = ['{', '  "old": {', ...jsonMembers, '  , "new": {', '    "a": 1 // one', '  }', '}'].join('\n');
  t.equal(editText(json, 'json', edits), ['{', '   "new": {', '    "a": 1, // one', ...jsonMembers, '}'].join('\n'));
  const line = '{"old": {"frontend": {"port": 3007}, "level": "DEBUG", "tz": 1 /* zone */}, "new": {"a": 1}}';
  const edited = editText(line, 'json', edits);
  t.same(parsed(edited, 'json'), { new: { a: 1, ...from } });
  t.match(edited, '"tz": 1 /* zone */', 'on one line too');
});

/** Moves of a member from `old` to `new` where its lines do not fit the other section, and what is written. */
const MOVED = [
  {
    what: 'deeper',
    text: 'old:\n  # mine\n  a: # head\n    port: 1 # asked\n\n    tz: |\n      x\nnew:\n    b: 1\nlast: 1\n',
    becomes:
      'old: {}\nnew:\n    b: 1\n    # mine\n    a: # head\n      port: 1 # asked\n\n      tz: |\n        x\nlast: 1\n',
    value: { port: 1, tz: 'x\n' },
  },
  {
    what: 'less deep',
    text: 'old:\n      # one\n      # two\n      a:\n        - 1 # first\n        - 2\n      c: 3\nnew:\n  b: 1\n',
    becomes: 'old:\n      c: 3\nnew:\n  b: 1\n  # one\n  # two\n  a:\n    - 1 # first\n    - 2\n',
    value: [1, 2],
  },
  {
    what: 'from brackets to lines',
    text: 'old: {a: {port: 1.0}}\r\nnew:\r\n  b: 1\r\nlast: 1\r\n',
    becomes: 'old: {}\r\nnew:\r\n  b: 1\r\n  a: {port: 1.0}\r\nlast: 1\r\n',
    value: { port: 1 },
  },
  {
    what: 'from lines to brackets',
    text: 'old:\n  a:\n    port: 1\nnew: {b: 1} # all\n',
    becomes: 'old: {}\nnew: {b: 1, a: { port: 1 }} # all\n',
    value: { port: 1 },
  },
  {
    what: 'a text on lines of its own',
    text: 'old:\n  a: |\n    x\n  c: 3\nnew:\n  b: 1\nlast: 1\n',
    becomes: 'old:\n  c: 3\nnew:\n  b: 1\n  a: |\n    x\nlast: 1\n',
    value: 'x\n',
  },
];

for (const { what, text, becomes, value } of MOVED) {
  t.test(`YAML moves ${what}`, async t => {
    const edits = [
      { path: ['new', 'a'], value, from: ['old', 'a'] },
      { path: ['old', 'a'], value: undefined },
    ];
    t.equal(editText(text, 'yaml', edits), becomes);
    t.same(parsed(becomes, 'yaml').new, { b: 1, a: value });
  });
}
