// JSON files as programs write them.
import fc from 'fast-check';
import t from 'tap';
import { jsonFormat } from '../../../plugins/format-json/json-file.ts';
import { holdFormat } from '../../contracts/config-format.ts';

holdFormat(t, jsonFormat, {
  cases: [
    {
      name: 'four spaces',
      text: '{\n    "port": 80,\n    "name": "a"\n}\n',
      updates: { port: 81 },
      becomes: ['80', '81'],
    },
    {
      name: 'tabs, no final newline',
      text: '{\n\t"a": {\n\t\t"b": true\n\t}\n}',
      updates: { a: { b: false } },
      becomes: ['true', 'false'],
    },
    {
      name: 'comments and a trailing comma',
      text: '{\n  // why\n  "a": 1, /* here */\n  "b": 2,\n}\n',
      updates: { b: 3 },
      becomes: ['2', '3'],
    },
    { name: 'CRLF', text: '{\r\n  "a": "x",\r\n  "b": "y"\r\n}\r\n', updates: { a: 'z' }, becomes: ['"x"', '"z"'] },
    { name: 'a byte order mark', text: '\uFEFF{"a":1,"b":2}', updates: { a: 5 }, becomes: ['1', '5'] },
    {
      name: 'numbers in their own spelling',
      text: '{"big": 9007199254740993, "one": 1.0, "e": 1e3, "x": 1}',
      updates: { x: 2 },
      becomes: ['"x": 1', '"x": 2'],
    },
    { name: 'one line', text: '{"a":[1,2,3],"b":{"c":null}}', updates: { b: { c: 'd' } }, becomes: ['null', '"d"'] },
    {
      name: 'an item is taken out of a list',
      text: '{\n  "a": [1, 2],\n  "b": 1\n}',
      updates: { a: [1] },
      becomes: ['[1, 2]', '[1]'],
    },
    {
      name: 'numbers that JSON does not have',
      text: '{"a": 1e999, "b": {"c": -1E400}, "d": [1e999, {"e": 1e999}, 1], "f": 1}',
      updates: { a: null, b: { c: null }, d: [null, { e: null }, 2], f: 1 },
      becomes: ['1]', '2]'],
    },
    { name: 'a new member', text: '{\n  "a": 1\n}\n', updates: { b: 2 }, becomes: '{\n  "a": 1,\n  "b": 2\n}\n' },
    {
      name: 'replace removes',
      text: '{\n  "a": 1,\n  "b": 2\n}\n',
      updates: { a: 1 },
      mode: 'replace',
      becomes: '{\n  "a": 1\n}\n',
    },
    { name: 'escapes stay as they are', text: '{"a": "\\u00e9\\/", "b": 1}', updates: { b: 2 }, becomes: ['1', '2'] },
  ],
  refused: [
    { name: 'no JSON', text: '{\n  "a": \n}', status: 422, message: /line 3, column 1/ },
    { name: 'a list', text: '[1]', status: 422, message: /not a JSON object/ },
    { name: 'empty', text: '', status: 422, message: /line 1/ },
    { name: 'twins', text: '{\n"a": 1,\n"a": 2\n}', updates: { a: 3 }, status: 400, message: /twice.*line 3/ },
  ],
});

t.test('the laws hold for generated files', async t => {
  const value = fc.jsonValue({ maxDepth: 2 });
  const file = fc.dictionary(fc.string(), value, { minKeys: 1, maxKeys: 6 }).filter(object => !('__proto__' in object));
  const check = fc.asyncProperty(file, fc.string(), fc.nat(), async (object, text, index) => {
    const before = JSON.parse(JSON.stringify(object));
    const keys = Object.keys(before);
    const key = keys[index % keys.length] ?? '';
    const source = JSON.stringify(before, null, 4);
    const edited = await jsonFormat.edit(source, { [key]: text }, 'merge');
    const after = await jsonFormat.parse(edited.text);
    return JSON.stringify(after) === JSON.stringify({ ...before, [key]: text });
  });
  await t.resolves(fc.assert(check));
});

t.test('an update that is text keeps the numbers that cannot be written, so that they are refused', async t => {
  t.match(await jsonFormat.readUpdate('{"a": 1e999}'), { kind: 'values', values: { a: Number.POSITIVE_INFINITY } });
});
