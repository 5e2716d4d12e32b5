// Settings files in Python as programs write them.
import fc from 'fast-check';
import t from 'tap';
import { deepEqual } from '../../../core/kit/deep-equal.ts';
import { pythonFormat } from '../../../plugins/format-python/python-file.ts';
import { holdFormat } from '../../contracts/config-format.ts';

const SETTINGS = `#!/usr/bin/env python3
"""Settings.

PORT = 1 is not a setting here
"""
import os

__version__ = '1'
PORT = 5050  # where it listens
NAME = "it's"
DEBUG = True
RATE: float = 1.0
HOSTS = [
    'one',   # first
    "two",
]
PAIR = ('a', 1)
NOTHING = None
BASE = os.path.join('a', 'b')
LONG = (
    'several '
    'pieces'
)
OPTIONS = {
    'retries': 3,
    'nested': {'on': False},
}
def read():
    PORT = 7
    return PORT
RAW = r'C:\\new'
TOTAL = 1 + 2
`;

const DICT = `O = {
    "pair": (1, 2),  # two
    "inner": {"x": 1},  # of inner
    "big": 9007199254740993,
}
`;

import { ANY_CHARACTER } from '../../support/any-character.ts';

holdFormat(t, pythonFormat, {
  cases: [
    {
      name: 'in another encoding, whose characters need no bytes of their own',
      text: "#!/usr/bin/env python3\n# -*- coding: latin-1 -*-\nA = 'x'\n",
      updates: { A: 'é\\', B: ['\u{1f600}'] },
      becomes: ["'x'\n", "'\\u00e9\\\\'\nB = ['\\U0001f600']\n"],
    },
    {
      name: 'in UTF-8, as the file says',
      text: "# vim: set fileencoding=utf-8 :\nA = 'x'\n",
      updates: { A: 'é' },
      becomes: ["'x'", "'é'"],
    },
    {
      name: 'a number with a comment',
      text: SETTINGS,
      updates: { PORT: 6060 },
      becomes: ['PORT = 5050 ', 'PORT = 6060 '],
    },
    {
      name: 'a text keeps its quotes',
      text: SETTINGS,
      updates: { NAME: 'say "x"' },
      becomes: [`"it's"`, '"say \\"x\\""'],
    },
    { name: 'a truth', text: SETTINGS, updates: { DEBUG: false }, becomes: ['True', 'False'] },
    { name: 'an annotated name', text: SETTINGS, updates: { RATE: 2.5 }, becomes: ['1.0', '2.5'] },
    {
      name: 'a list over several lines',
      text: SETTINGS,
      updates: { HOSTS: ['three'] },
      becomes: [`[\n    'one',   # first\n    "two",\n]`, "['three']"],
    },
    { name: 'a tuple stays one', text: SETTINGS, updates: { PAIR: ['b'] }, becomes: ["('a', 1)", "('b',)"] },
    { name: 'None', text: SETTINGS, updates: { NOTHING: 'x' }, becomes: ['None', "'x'"] },
    {
      name: 'a dict',
      text: SETTINGS,
      updates: { OPTIONS: { retries: 4 } },
      becomes: ["'retries': 3", "'retries': 4"],
    },
    {
      name: 'inside a dict, whose other members keep their kinds, numbers and comments',
      text: DICT,
      updates: { O: { inner: { y: [1] }, new: 'z' } },
      becomes: DICT.replace('{"x": 1}', '{"x": 1, "y": [1]}').replace('993,\n', `993,\n    "new": "z",\n`),
    },
    {
      name: 'replace removes inside a dict',
      text: DICT,
      updates: { O: { inner: { x: 1 } } },
      mode: 'replace',
      becomes: 'O = {\n    "inner": {"x": 1},  # of inner\n}\n',
    },
    {
      name: 'items come and go',
      text: `L = [\n  'a', # first\n  ('b', 1),  # second\n]\n`,
      updates: { L: [['b', 1], 'c'] },
      becomes: `L = [\n  ('b', 1),  # second\n  'c',\n]\n`,
    },
    {
      name: 'an item inside a tuple',
      text: 'T = (("a", 1), ["b"])\r\n',
      updates: {
        T: [
          ['a', 2],
          ['b', 'c'],
        ],
      },
      becomes: 'T = (("a", 2), ["b", "c"])\r\n',
    },
    { name: 'a tuple that loses an item', text: 'T = (1, 2)\n', updates: { T: [1] }, becomes: ['(1, 2)', '(1,)'] },
    { name: 'a literal after an expression', text: 'A = f()\nA = 1\n', updates: { A: 2 }, becomes: ['1', '2'] },
    { name: 'a raw text', text: SETTINGS, updates: { RAW: 'D:\\x' }, becomes: ["r'C:\\new'", "'D:\\\\x'"] },
    { name: 'a new name', text: 'A = 1', updates: { B: 'x\ny' }, becomes: "A = 1\nB = 'x\\ny'\n" },
    {
      name: 'a name that only a text over several lines mentions',
      text: 'A = """\nB = 1\n"""\n',
      updates: { B: 2 },
      becomes: 'A = """\nB = 1\n"""\nB = 2\n',
    },
    { name: 'CRLF', text: 'A = 1\r\nB = 2\r\n', updates: { B: 3 }, becomes: ['2', '3'] },
    { name: 'the last of several', text: 'A = 1\nA = 2\n', updates: { A: 3 }, becomes: ['A = 2', 'A = 3'] },
    {
      name: 'replace removes',
      text: 'A = 1\n# note\nB = [\n  2,\n]\n',
      updates: { A: 1 },
      mode: 'replace',
      becomes: 'A = 1\n# note\n',
    },
  ],
  refused: [
    { name: 'an open text', text: "A = 1\nB = 'x\n", status: 422, message: /line 2, column 5/ },
    { name: 'an open bracket', text: 'A = [1,\n', status: 422, message: /line 1/ },
    {
      name: 'a backslash that an added line would follow',
      text: 'A = 1\nB = f(1)\\\n',
      updates: { C: 2 },
      status: 422,
      message: /no line follows a backslash at line 2, column 9/,
    },
    {
      name: 'an expression',
      text: SETTINGS,
      updates: { BASE: 'x' },
      status: 400,
      message: /BASE is not set by a plain literal \(line 19\)/,
    },
    {
      name: 'a literal that an expression replaces',
      text: 'A = 1\nA = f()\n',
      updates: { A: 2 },
      status: 400,
      message: /A is not set by a plain literal \(line 2\)/,
    },
    { name: 'a literal that grows', text: 'A = 1\nA += 1\n', updates: { A: 2 }, status: 400, message: /line 2/ },
    {
      name: 'a literal on a line with another statement',
      text: 'A = 1\nA = 2; B = 3\n',
      updates: { A: 4 },
      status: 400,
      message: /line 2/,
    },
    { name: 'a sum', text: SETTINGS, updates: { TOTAL: 4 }, status: 400, message: /TOTAL/ },
    {
      name: 'a hidden name',
      text: SETTINGS,
      updates: { __version__: '2' },
      status: 400,
      message: /cannot be the name/,
    },
    {
      name: 'a word of Python itself as a name',
      text: SETTINGS,
      updates: { PORT: 6060, import: 1 },
      status: 400,
      message: /'import' cannot be the name of a setting/,
    },
    {
      name: 'no name',
      text: 'A = 1\n',
      updates: { 'B = 2; import os': 1 },
      status: 400,
      message: /cannot be the name/,
    },
  ],
});

t.test('plain settings are shown, other code is not', async t => {
  t.same(await pythonFormat.parse(SETTINGS), {
    PORT: 5050,
    NAME: "it's",
    DEBUG: true,
    RATE: 1,
    HOSTS: ['one', 'two'],
    PAIR: ['a', 1],
    NOTHING: null,
    OPTIONS: { retries: 3, nested: { on: false } },
    RAW: 'C:\\new',
  });
  t.same(
    await pythonFormat.parse('A = 1\nB = 2\nA = f()\nif B:\n    B = 3\n'),
    { B: 2 },
    'what the names have in the end',
  );
  const guarded = 'try: import local\nexcept ImportError: local = None\nelse: A = 1\nfinally: B = 2\nC: int = 3\n';
  t.same(await pythonFormat.parse(guarded), { C: 3 }, 'no word of the language, whatever its line sets');
  const replaced = await pythonFormat.edit(guarded, { C: 4 }, 'replace');
  t.equal(replaced.text, guarded.replace('= 3', '= 4'), 'and such a line stays');
  t.same(await pythonFormat.readUpdate("{'A': (1, 2), 'B': None}"), { kind: 'values', values: { A: [1, 2], B: null } });
  t.same(await pythonFormat.readUpdate('{"A": true}'), { kind: 'values', values: { A: true } });
  await t.rejects(async () => pythonFormat.readUpdate('import os'), { status: 400, message: /neither/ });
});

t.test('a name that a later statement changes is not shown, and refused with its line', async t => {
  const changes = [
    'NAME, B = 1, 2',
    '(B, [*NAME]) = f()',
    'B = NAME = f()',
    'NAME += 1',
    'B = 1; NAME = 2',
    'for NAME in f(): pass',
    'for B, NAME in f(): pass',
    'del B, NAME',
    'NAME["x"] = 2',
    'NAME["x"]["y"] += 2',
    'NAME[:] = f()',
    'NAME[0], B = f()',
    'B = NAME[0] = f()',
    'del B, NAME["x"]',
    'for NAME["x"] in f(): pass',
    'with f() as NAME["x"]: pass',
    'NAME.update(x=2)',
    'NAME["x"].append(2)  # more',
    'with f(x="# as B") as NAME:\n    pass',
    'with f() as B, g() as (C, NAME): pass',
    'import os.path as NAME',
    'import NAME.path',
    'from os import (B,\n  NAME)  # all',
    'from os import B, \\\n  NAME',
    'import os as \\\n  NAME',
    'NAME \\\n  .update(x=2)',
    'async \\\n  def NAME(): pass',
    'def NAME(): pass',
    'async def NAME(): pass',
    'class NAME: pass',
    'while (NAME := f()): pass',
    'print(NAME := 2)',
    'def f():\n    global B, NAME\n    NAME = 2',
    'def f(): global NAME; NAME = 2',
  ];
  for (const change of changes) {
    const text = `NAME = 1\n${change}\n`;
    t.notOk('NAME' in (await pythonFormat.parse(text)), change);
    await t.rejects(async () => pythonFormat.edit(text, { NAME: 5 }, 'merge'), {
      status: 400,
      message: /^NAME is not set by a plain literal \(line [23]\); edit the file by hand$/,
    });
    t.equal((await pythonFormat.parse(`${text}NAME = 3\n`)).NAME, change.includes('global') ? undefined : 3, change);
  }
  const others = [
    'B = NAME',
    'B[NAME] = f(NAME=1)',
    'B.NAME = NAME == 2',
    'f(NAME)[NAME].x = 1',
    'B = [NAME for NAME in f()]',
    'B = lambda NAME=1: NAME',
    'def f(NAME=1):\n    NAME = 2',
    'class C:\n    NAME = 2',
    'from NAME import B as C',
    'import os.NAME',
    'del B[NAME], C.NAME',
    'B.append(NAME)',
    'B[NAME].append(NAME)',
    'NAME["x"]',
    'NAME[0] == 2',
    'B = NAME.copy()',
    'with f(NAME) as B.NAME: pass',
    'NAME: int',
    '"NAME += 1" # NAME = 2',
  ];
  for (const other of others) t.equal((await pythonFormat.parse(`NAME = 1\n${other}\n`)).NAME, 1, other);
});

t.test('a long line of any words is read in linear time', async t => {
  for (const part of ['as ', 'a[0], ', 'del (a), ', 'x = ', 'a := ', 'global a; ', 'import ', 'lambda '])
    t.same(await pythonFormat.parse(`${part.repeat(100_000)}\nB = 1\n`), { B: 1 }, part);
});

t.test('the laws hold for generated files', async t => {
  const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/);
  const scalar = fc.oneof(fc.string({ unit: ANY_CHARACTER }), fc.integer(), fc.boolean(), fc.constant(null));
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(name, scalar, { maxKeys: 3 }));
  const file = fc.dictionary(name, value, { minKeys: 1, maxKeys: 5 });
  const check = fc.asyncProperty(file, value, fc.nat(), async (object, wanted, index) => {
    const source = (await pythonFormat.edit('# head\n', object, 'merge')).text;
    const keys = Object.keys(object);
    const key = keys[index % keys.length] ?? '';
    const edited = await pythonFormat.edit(source, { ...object, [key]: wanted }, 'replace');
    return (
      deepEqual(await pythonFormat.parse(source), object) &&
      deepEqual(await pythonFormat.parse(edited.text), { ...object, [key]: wanted })
    );
  });
  await t.resolves(fc.assert(check));
});
