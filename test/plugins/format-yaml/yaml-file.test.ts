// YAML files as programs write them.
import fc from 'fast-check';
import t from 'tap';
import { stringify } from 'yaml';
import { yamlFormat } from '../../../plugins/format-yaml/yaml-file.ts';
import { holdFormat } from '../../contracts/config-format.ts';

const NESTED = `# head
defaults: &base
  retries: 3   # often enough
  hosts: [a, b]

service:
  <<: *base
  name: 'first'
  port: 0080
  text: |
    several
    lines

# tail
last: ~
`;

holdFormat(t, yamlFormat, {
  cases: [
    {
      name: 'anchors and comments',
      text: NESTED,
      updates: { service: { name: "it's" } },
      becomes: ["'first'", "'it''s'"],
    },
    {
      name: 'a member of what a merge brings leaves its neighbours',
      text: 'base: &base\n  retry: { times: 3, waits: 1 }\nown:\n  <<: *base # all\n  a: 1\n',
      updates: { own: { retry: { times: 4 } } },
      becomes: ['  a: 1\n', '  a: 1\n  retry:\n    times: 4\n    waits: 1\n'],
    },
    {
      name: 'a member of what an alias stands for',
      text: 'a: &x { b: 1, c: 2 }\nd: *x # same\ne: [*x, 3]\n',
      updates: { d: { b: 3 }, e: [4, 3] },
      becomes: 'a: &x { b: 1, c: 2 }\nd: { b: 3, c: 2 } # same\ne: [4, 3]\n',
    },
    {
      name: 'anchors that no alias names stay where they are',
      text: 'a: &a 1 # one\nb: &b # two\n  c: 1\nd: &d\nh: [&h 1, 2, &i 3]\nj: { k: &k 1 }\n',
      updates: { a: 'text', b: 2, d: 3, h: [2, 4], j: { k: 6 } },
      mode: 'replace',
      becomes: 'a: &a text # one\nb: &b 2 # two\nd: &d 3\nh: [2, &i 4]\nj: { k: &k 6 }\n',
    },
    {
      name: 'the same of items on lines of their own',
      text: 'e:\n  - &e 1\n  - &f\n    g: 1\n',
      updates: { e: [{ c: 4 }, { g: 5 }] },
      mode: 'replace',
      becomes: 'e:\n  - &e\n    c: 4\n  - &f\n    g: 5\n',
    },
    {
      name: 'values that only YAML 1.1 has',
      text: '%YAML 1.1\n---\nday: 2024-01-02\nbytes: !!binary aGk=\nset: !!set {a, b}\non: yes\nport: 1\n',
      updates: { day: '2024-01-02', bytes: 'aGk=', set: { a: null }, true: true, port: 2 },
      becomes: ['port: 1', 'port: 2'],
    },
    {
      name: 'anchors on lines of their own',
      text: 'a: # one\n  &a\n  b: 1\nc:\n  &c\n  d: 1\n  e: 2\nf:\n  -\n    &f\n    g: 1\n  - 2\nh:\n  &h\n  - 1\n',
      updates: { a: 'text', c: { d: 3, e: 2 }, f: ['text', 2], h: [] },
      mode: 'replace',
      becomes: 'a: text # one\nc:\n  &c\n  d: 3\n  e: 2\nf:\n  - text\n  - 2\nh: []\n',
    },
    {
      name: 'what an anchor and its alias share, alike',
      text: 'a: &x\n  b: 1\n  c: 2\nd: *x\n',
      updates: { a: { b: 3 }, d: { b: 3 } },
      becomes: 'a: &x\n  b: 3\n  c: 2\nd: { b: 3, c: 2 }\n',
    },
    {
      name: 'members with anchors that no alias names go',
      text: 'a: &a 1\nb: &b\n  c: &c 1\n  d: 2\ne: [&e 1, 2]\nf: &f\n',
      updates: { b: { d: 2 }, e: [2] },
      mode: 'replace',
      becomes: 'b: &b\n  d: 2\ne: [2]\n',
    },
    {
      name: 'keys that are told as such',
      text: '? a\n: 1\n? "b"\n:   - 2\n    - 3\nc: { ? d : 4, e: 5 }\n',
      updates: { a: 6, f: true, c: { e: 7 } },
      becomes: '? a\n: 6\n? "b"\n:   - 2\n    - 3\nc: { ? d : 4, e: 7 }\nf: true\n',
    },
    {
      name: 'what goes from below a text that keeps its blank lines leaves it none',
      text: 'a: >+\n text\n\n# one\nb: 1\n\nd: 1\n\n\n# two\nc: 2\n',
      mode: 'replace',
      updates: { a: 'text\n\n', c: 2 },
      becomes: 'a: >+\n text\n\n# two\nc: 2\n',
    },
    {
      name: 'a key in brackets without a value',
      text: 'a: {b: , "c", d}\n',
      updates: { a: { b: 1, c: 2, d: 'x' } },
      becomes: 'a: {b: 1 , "c": 2, d: x}\n',
    },
    {
      name: 'lines that end by a carriage return alone',
      text: 'a: # one\r  b: 1\r  # two\r  c: 2\rd: [e,\r f]\r',
      updates: { a: { b: 3, g: { h: 4 } }, d: ['f'] },
      becomes: 'a: # one\r  b: 3\r  # two\r  c: 2\r  g:\r    h: 4\rd: [\r f]\r',
    },
    {
      name: 'a carriage return among line feeds',
      text: 'a: 1\rb: |\n  c\r  d\n',
      updates: { a: 2, b: 'c\nd\n' },
      becomes: 'a: 2\rb: |\n  c\r  d\n',
    },
    {
      name: 'a comment on the line',
      text: NESTED,
      updates: { defaults: { retries: 4 } },
      becomes: ['retries: 3', 'retries: 4'],
    },
    {
      name: 'an item that becomes lines has its comment behind brackets',
      text: 'a:\n  - b # old\n  - c\n',
      updates: { a: [{ d: 'one\ntwo' }, 'c'] },
      becomes: ['b # old', '{ d: "one\\ntwo" } # old'],
    },
    {
      name: 'numbers that JSON does not have',
      text: 'a: .nan # none\nb: { c: -.inf, d: 1e999 }\ne:\n  - .Inf # all\n  - 1\nf: 1\n',
      updates: { a: null, b: { c: null, d: null }, e: [null, 2], f: 1 },
      becomes: ['- 1', '- 2'],
    },
    {
      name: 'several lines between brackets',
      text: 'a:\n  b: { c: 1 }\n',
      updates: { a: { b: { c: { d: `${'long'.repeat(12)}\nend` } } } },
      becomes: ['1', `{ d: "${'long'.repeat(12)}\\nend" }`],
    },
    {
      name: 'line breaks at the end',
      text: 'a:\n  - b:\n      - 1\n  - c\n',
      updates: { a: [{ b: ['x\n\n'] }, 'c'] },
      becomes: ['- 1', '- "x\\n\\n"'],
    },
    {
      name: 'what ends with an empty value',
      text: 'a:\n  - - # old\n  - c\n',
      updates: { a: [{ d: 1 }, 'c'] },
      becomes: ['- - # old', '- d: 1'],
    },
    {
      name: 'an empty value above a comment of what follows',
      text: 'a:\n  b:\n    c:\n  # of d\n\n  d: 1\n',
      updates: { a: { b: 'x' } },
      becomes: [':\n    c:', ': x'],
    },
    { name: 'a tag of another kind', text: 'a: !!str 5 # old\n', updates: { a: 5 }, becomes: ['!!str 5', '5'] },
    { name: 'a tag of the same kind', text: 'a: !!str 5\n', updates: { a: '6' }, becomes: ['5', '"6"'] },
    { name: 'a tag that is not known', text: 'a: !env B\n', updates: { a: 'C' }, becomes: ['B', 'C'] },
    {
      name: 'the comment of a key whose list becomes empty',
      text: 'a: # mine\n  - b # of b\nc: 1\n',
      updates: { a: [] },
      becomes: [' # mine\n  - b # of b', ' [] # mine'],
    },
    {
      name: 'the comment behind a dash',
      text: 'a:\n  - # mine\n    b: 1\n  - c\n',
      updates: { a: ['d', 'c'] },
      becomes: ['# mine\n    b: 1', 'd # mine'],
    },
    { name: 'a list in brackets', text: NESTED, updates: { defaults: { hosts: ['c'] } }, becomes: ['[a, b]', '[c]'] },
    { name: 'null', text: NESTED, updates: { last: 5 }, becomes: ['last: ~', 'last: 5'] },
    { name: 'CRLF', text: 'a: 1\r\nb: two\r\n', updates: { b: 'three' }, becomes: ['two', 'three'] },
    { name: 'no final newline', text: 'a: 1\nb: two', updates: { b: 'three' }, becomes: ['two', 'three'] },
    { name: 'an empty value', text: 'a:\nb: 1\n', updates: { a: 'x' }, becomes: ['a:', 'a: x'] },
    {
      name: 'a list in lines',
      text: 'a:\n  - one   # first\n  - two\nb: 1\n',
      updates: { a: ['three', 'four'] },
      becomes: 'a:\n  - three   # first\n  - four\nb: 1\n',
    },
    {
      name: 'a new member',
      text: 'a:\n    b: 1\n# end\nc: 2\n',
      updates: { a: { d: 'x' } },
      becomes: 'a:\n    b: 1\n    d: x\n# end\nc: 2\n',
    },
    {
      name: 'a new mapping',
      text: 'a: 1\n',
      updates: { m: { k: 'v', l: [1] } },
      becomes: 'a: 1\nm:\n  k: v\n  l:\n    - 1\n',
    },
    { name: 'a mapping in braces', text: 'a: { b: 1 }\n', updates: { a: { c: 'x' } }, becomes: 'a: { b: 1, c: x }\n' },
    {
      name: 'texts that older readers mistake',
      text: 'a: x\nb: y\nc: z\n',
      updates: { a: 'yes', b: '012', c: '1:30' },
      becomes: 'a: "yes"\nb: "012"\nc: "1:30"\n',
    },
    {
      name: 'texts that other parsers mistake or refuse',
      text: "a: x\nb: 'y'\nc: z\n",
      updates: { a: '2001-01-01', b: 'a\u0085b', c: ['1_000', '0b11', '=', '\u007f\ufffe', 'a\tb', ':a', '--- a'] },
      becomes:
        'a: "2001-01-01"\nb: "a\\u0085b"\n' + 'c: [ "1_000", "0b11", "=", "\\u007f\\ufffe", "a\\tb", ":a", "--- a" ]\n',
    },
    {
      name: 'a key that would begin a document',
      text: 'a: 1\n',
      updates: { '--- b': 2 },
      becomes: 'a: 1\n"--- b": 2\n',
    },
    {
      name: 'a text on lines of its own stays on them, with its comment',
      text: NESTED.replace('text: |', 'text: |  # many'),
      updates: { service: { text: 'other\n\n  lines' } },
      becomes: NESTED.replace('text: |\n    several\n    lines', 'text: |-  # many\n    other\n\n      lines'),
    },
    {
      name: 'a text on lines of its own becomes a number',
      text: 'a: >-  # old\r\n  b\r\n\r\nc: 1\r\n',
      updates: { a: 5 },
      becomes: ['>-  # old\r\n  b', '5  # old'],
    },
    {
      name: 'a text on lines of its own becomes one that cannot stand there',
      text: 'a: |\n  b\n',
      updates: { a: ' c\n\n' },
      becomes: 'a: " c\\n\\n"\n',
    },
    {
      name: 'a text on lines of its own in a list',
      text: 'a:\n  - b: |\n        c\n    d: 1\n  - e\n',
      updates: { a: [{ b: 'f\ng\n', d: 1 }, 'e'] },
      becomes: ['        c', '        f\n        g'],
    },
    {
      name: 'a text on lines of its own as an item',
      text: 'a:\n  - |  # old\n    b\n    c\n  - d\n',
      updates: { a: ['e', 'd'] },
      becomes: ['|  # old\n    b\n    c', '|-  # old\n    e'],
    },
    {
      name: 'a text on lines of its own as the last thing of a file without a final newline',
      text: 'a: |\n  b',
      updates: { a: 'c\n' },
      becomes: 'a: |\n  c\n',
    },
    {
      name: 'replace removes',
      text: 'a: 1 # one\nb:\n  c: 2\nd: 3\n',
      updates: { a: 1, d: 3 },
      mode: 'replace',
      becomes: 'a: 1 # one\nd: 3\n',
    },
  ],
  refused: [
    { name: 'no YAML', text: 'a: [1\nb: 2\n', status: 422, message: /line \d+, column \d+/ },
    { name: 'a list', text: '- a\n', status: 422, message: /not a YAML mapping/ },
    { name: 'two documents', text: 'a: 1\n---\nb: 2\n', status: 422, message: /line/ },
    { name: 'twins', text: 'a: 1\na: 2\n', status: 422, message: /line 2/ },
    {
      name: 'the source of a shared value',
      text: 'a: &x 1\nb: *x\n',
      updates: { a: 2 },
      status: 400,
      message: /anchor \(line 1\)/,
    },
    {
      name: 'the removal of what a merge brings',
      text: 'a: &x\n  b: 1\nd:\n  <<: *x\n  c: 1\n',
      updates: { a: { b: 1 }, d: { c: 1 } },
      mode: 'replace',
      status: 400,
      message: /^'d\.b' is brought by a merge key \(<<\), so that it cannot go alone; give it another value, or edit/,
    },
    {
      name: 'the removal of a member whose key is a list',
      text: '? [a]\n: 1\nb: 2\n',
      updates: { b: 2 },
      mode: 'replace',
      status: 400,
      message: /^'\[ a \]' cannot be changed safely; edit the file by hand$/,
    },
    {
      name: 'what holds the source of a shared value',
      text: 'a: &w\n  b: &x 1\nb: [*x]\n',
      updates: { a: 2 },
      status: 400,
      message: /anchor \(line 2\)/,
    },
  ],
});

t.test('the laws hold for generated files', async t => {
  const scalar = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.integer(), fc.boolean(), fc.constant(null));
  const key = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
  const leaf = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));
  const file = fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf, { minKeys: 1, maxKeys: 3 })), {
    minKeys: 1,
    maxKeys: 5,
  });
  const check = fc.asyncProperty(file, leaf, fc.nat(), async (object, value, index) => {
    const before = JSON.parse(JSON.stringify(object));
    const keys = Object.keys(before);
    const name = keys[index % keys.length] ?? '';
    const edited = await yamlFormat.edit(stringify(before), { [name]: value }, 'merge');
    const after = await yamlFormat.parse(edited.text);
    return JSON.stringify(after) === JSON.stringify({ ...before, [name]: value });
  });
  await t.resolves(fc.assert(check, { numRuns: 500 }));
});

t.test('an update that is text keeps the numbers that cannot be written, so that they are refused', async t => {
  t.match(await yamlFormat.readUpdate('a: .inf\n'), { kind: 'values', values: { a: Number.POSITIVE_INFINITY } });
});
