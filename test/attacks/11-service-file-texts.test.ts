// Whatever stands in a service's file, and whatever is written to it: the answer is its values, or says what is wrong.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { Problem } from '../../core/contract/problem.ts';
import { deepEqual } from '../../core/kit/deep-equal.ts';
import type { ConfigFormat, FileObject } from '../../plugins/config-files/contract.ts';
import { formatsOf } from '../../plugins/format-conf/formats.ts';
import { jsonFormat } from '../../plugins/format-json/json-file.ts';
import { pythonFormat } from '../../plugins/format-python/python-file.ts';
import { xmlFormat } from '../../plugins/format-xml/xml-file.ts';
import { yamlFormat } from '../../plugins/format-yaml/yaml-file.ts';
import { ANY_CHARACTER } from '../support/any-character.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { templatesOf } from '../support/templates.ts';

const RUNS = { seed: 11, numRuns: 250 };

const FORMAT_PLUGINS = ['format-conf', 'format-json', 'format-python', 'format-xml', 'format-yaml'];
const JSON_TYPE = { 'content-type': 'application/json' };
/** Where the name of the format does not tell the file's. */
const fileNames: Readonly<Record<string, string>> = { python: 'a.py', rclone: 'a.conf', postgresql: 'postgresql.conf' };

/** A file of each format, which the mutations begin with. */
const SAMPLES: Readonly<Record<string, string>> = {
  json: '\uFEFF{\r\n  // why\r\n  "a": 1, "list": [1, {"x": null}], "o": {"b": "\\u00e9", "empty": {}},\r\n}\r\n',
  yaml: '# head\na: &x\n  b: "1"\n  c: [1, {d: ~}]\ne: *x\nf: |\n  text\n  more\ng:\n  - 1\n  - {h: 2}\ni: {j: k}\n',
  xml: '<?xml version="1.0"?>\n<!-- why -->\n<Root a="1">\n  <B>x &amp; y</B>\n  <C/><C>2</C>\n  <D e=\'f\'>t<!-- n --></D>\n</Root>\n',
  python:
    '# head\nA = 1  # why\nB = [\'x\', "y",\n  (1, 2.5e3)]\nC: str = r"\\d" \'z\'\nD = {\'k\': None, "n": -0x1f}\nE = f(1)\n',
  ini: '\uFEFFtop = 1\r\n[a]\r\nx = 1 ; no comment\r\ny: two\r\n; comment\r\n[__proto__]\r\naccess = public\r\n[b c]\nz=\n',
  rclone: '# head\n[remote]\ntype = sftp\nhost = h\n\n[__proto__]\naccess = public\n',
  postgresql: "# head\nlisten_addresses = '*'\t# all\nport 5432\nname = 'it''s'\ninclude 'x.conf'\n",
};

/** Values that JSON does not have, as parsers of YAML 1.1 read them. */
const YAML_1_1 =
  '%YAML 1.1\n---\nday: 2024-01-02\ntime: 10:30\nmode: 0644\non: yes\na: &x {b: 1}\nset: !!set {c, d}\n' +
  'bytes: !!binary aGk=\norder: !!omap [e: 1, f: 2]\npairs: !!pairs [g: 1]\nown: {<<: *x, h: !!timestamp 2001-02-03}\n';

const HOSTILE = [
  '[',
  '{',
  '(',
  '<a>',
  '</',
  ']]>',
  '<!--',
  '<![CDATA[',
  '<!DOCTYPE x [<!ENTITY a "b">]>',
  '&constructor;',
  '&#0;',
  '&#xD800;',
  '&a',
  '*x',
  '&x ',
  '<<: 1\n',
  '? ',
  '- ',
  '!!binary ',
  '!!set {a, b}',
  '- 1\n',
  '<<: *x\n',
  '!!timestamp 2001\n',
  '%YAML 1.1\n---\n',
  '%YAML 3\n---\n',
  '...\n',
  '|\n',
  '"',
  "'",
  '"""',
  "'''",
  '\\',
  '\\U00110000',
  '\\N{X}',
  '\\ud800',
  '\u2028',
  '\uFEFF',
  '\0',
  '\ud800',
  '\t',
  '\r',
  '\n',
  '  ',
  '=',
  ':',
  ': ',
  '#',
  ';',
  '__proto__',
  'constructor',
  '[__proto__]\n',
  '"__proto__": 1,',
  '__proto__: {a: 1}\n',
  '<constructor>1</constructor>',
  '1e999',
  '-0',
  '0x',
  '.nan',
  '.inf',
  '/*',
  '//',
  ',',
];

const formats: readonly ConfigFormat[] = [
  jsonFormat,
  yamlFormat,
  xmlFormat,
  pythonFormat,
  ...formatsOf((await templatesOf()).list()),
];

/** The text with some of its parts cut out, doubled, or replaced by what parsers stumble over. */
function mutationsOf(text: string): fc.Arbitrary<string> {
  const step = fc.tuple(
    fc.nat(text.length),
    fc.nat(12),
    fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ maxLength: 4 })),
  );
  return fc
    .array(step, { maxLength: 5 })
    .map(steps =>
      steps.reduce((before, [at, length, piece]) => before.slice(0, at) + piece + before.slice(at + length), text),
    );
}

/** What `act` gives; undefined for a refusal that the user reads. Anything else is a fault. */
async function answerOf<Value>(act: () => Value | Promise<Value>): Promise<Value | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.message.length < 2_000)
      return undefined;
    throw error;
  }
}

function isBare(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== null) return false;
  return Object.values(value).every(isBare);
}

const key = fc.oneof(
  fc.constantFrom('a', 'x', 'A', 'Root', 'B', '@a', '#text', 'top', '', 'remote', 'port', 'o', 'list', 'NEW'),
  fc.constantFrom(...HOSTILE),
  fc.string({ maxLength: 5 }),
);
const leaf = fc.oneof(
  fc.constantFrom(...HOSTILE, -0, 1e21, 0.1, 5e-324),
  fc.string({ unit: ANY_CHARACTER, maxLength: 5 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const member = fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(key, leaf, { maxKeys: 3 }));
const anyUpdates = fc.dictionary(key, fc.oneof(member, fc.dictionary(key, member, { maxKeys: 2 })), { maxKeys: 3 });

/** The paths to the members of objects, at every depth. */
function pathsOf(values: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return [];
  return Object.entries(values).flatMap(([name, value]) => [[...path, name], ...pathsOf(value, [...path, name])]);
}

/** One of the values, or a new one beside it, set to something. */
function updatesOf(values: FileObject): fc.Arbitrary<FileObject> {
  const place = fc.tuple(fc.constantFrom(...pathsOf(values)), fc.option(fc.stringMatching(/^[a-z]{3}$/)));
  return fc.tuple(place, member).map(([[path, beside], value]) => {
    const names = beside === null ? path : [...path.slice(0, -1), beside];
    return names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as FileObject;
  });
}

for (const format of formats) {
  const sample = SAMPLES[format.name];
  if (sample === undefined) continue;
  const updates = fc.oneof(anyUpdates, { weight: 3, arbitrary: updatesOf(await format.parse(sample)) });
  const samples = format.name === 'yaml' ? [sample, YAML_1_1] : [sample];
  const text = fc.oneof(
    ...samples.map(text => ({ weight: 4, arbitrary: mutationsOf(text) })),
    fc.string({ unit: ANY_CHARACTER, maxLength: 60 }),
  );

  t.test(`${format.name}: every text is read as data without a prototype, or refused with a sentence`, async t => {
    const check = fc.asyncProperty(text, async given => {
      const values = await answerOf(() => format.parse(given));
      const update = await answerOf(() => format.readUpdate(given));
      return isBare(values) && (update?.kind !== 'values' || isBare(update.values));
    });
    await t.resolves(fc.assert(check, RUNS));
  });

  t.test(`${format.name}: what a text reads as changes nothing when it is sent back`, async t => {
    const check = fc.asyncProperty(text, async given => {
      const values = await answerOf(() => format.parse(given));
      if (values === undefined || JSON.stringify(values).includes('null')) return true;
      const edited = await answerOf(() =>
        format.edit(given, JSON.parse(JSON.stringify(values)) as FileObject, 'merge'),
      );
      return edited === undefined || edited.text === given;
    });
    await t.resolves(fc.assert(check, RUNS));
  });

  t.test(`${format.name}: every edit is refused with a sentence, or reads back as it was sent`, async t => {
    let held = 0;
    const check = fc.asyncProperty(text, updates, fc.constantFrom('merge', 'replace'), async (given, wanted, mode) => {
      const edited = await answerOf(() => format.edit(given, wanted, mode));
      if (edited === undefined) return true;
      const read = await answerOf(() => format.parse(edited.text));
      const expected = await answerOf(() => format.readBack?.(wanted, given) ?? wanted);
      if (edited.changed > 0) held += 1;
      return isBare(read) && holds(read, expected);
    });
    await t.resolves(fc.assert(check, RUNS));
    t.ok(held > 10, 'many edits were made', { held });
  });
}

t.test('over HTTP no text and no update is a fault', async t => {
  const files = Object.fromEntries(
    Object.entries(SAMPLES).map(([name, text]) => [fileNames[name] ?? `a.${name}`, text]),
  );
  const dir = testDir(t, files);
  const config = Object.fromEntries(
    Object.keys(files).map((name, index) => [
      `service${index}`,
      { process_name: name, config_dir: dir, config_file: path.join(dir, name) },
    ]),
  );
  const app = await startHost({
    plugins: ['config', 'process', 'config-files', 'services', ...FORMAT_PLUGINS],
    config,
  });
  t.teardown(() => app.stop());
  const send = async (name: string, updates: string) => {
    const body = `{"service_name": ${JSON.stringify(name)}, "updates": ${updates}}`;
    return (await app.request('POST', '/config/service-config', { body, headers: JSON_TYPE })).status;
  };
  for (const [name, sample] of Object.entries(files)) {
    const texts = fc.sample(mutationsOf(sample), { seed: 11, numRuns: 6 });
    const wanted = fc.sample(anyUpdates, { seed: 11, numRuns: 6 });
    const statuses: number[] = [];
    for (const text of [...texts, '', '\uFEFF', '\0', ' '.repeat(70_000)]) {
      await writeFile(path.join(dir, name), text);
      statuses.push(await send(name, 'null'), await send(name, JSON.stringify(wanted.at(statuses.length % 6))));
      await writeFile(path.join(dir, name), sample);
      statuses.push(await send(name, JSON.stringify(text)));
    }
    for (const updates of ['{"a": 1e999}', '{"a": "\\ud800"}', '"\\ud800"', '"\\u0000"', '{"a": {"x": "\\u0000"}}'])
      statuses.push(await send(name, updates));
    await writeFile(path.join(dir, name), Buffer.from('fffe61003d00', 'hex'));
    statuses.push(await send(name, 'null'));
    t.same(
      statuses.filter(status => status >= 500),
      [],
      name,
    );
    t.ok(statuses.includes(200), `${name}: some are good`);
  }
});

function holds(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return deepEqual(found, wanted);
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(wanted).every(
    ([name, value]) => Object.hasOwn(found, name) && holds((found as FileObject)[name], value),
  );
}
