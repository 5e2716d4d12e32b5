// Whatever is saved over HTTP into a service's file is read back as it was sent, and everything else in the file stays,
// with every comment. A refused save leaves the file as it was.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { deepEqual } from '../../../core/kit/deep-equal.ts';
import { mergedValues } from '../../../core/kit/merged-values.ts';
import { ANY_CHARACTER } from '../../support/any-character.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { rounds } from '../../support/rounds.ts';

const PLUGINS = ['config', 'process', 'services', 'config-files'];
const FORMATS = ['format-conf', 'format-json', 'format-python', 'format-xml', 'format-yaml'];

interface Sample {
  readonly text: string;
  /** The path of the new value. */
  readonly place: readonly string[];
  /** The part of a text that the format shows. */
  readonly shown?: (text: string) => string | null;
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  'a.json': {
    text: '{ // c1\n  "kept": [1, /* c2 */ {"x": "y"}],\n  // c3\n  "own": { "value": "old", "__proto__": 1 /* c4 */ },\n}\n',
    place: ['own', 'value'],
  },
  'a.yaml': {
    text: '# c1\nkept: # c2\n  - 1\n  - x: y # c3\nown:\n  value: old\n  # c4\n  constructor: 1\n',
    place: ['own', 'value'],
  },
  'a.py': {
    text: "# c1\nKEPT = [1,  # c2\n  'x']\nOWN = {\n  'value': 'old',\n  # c3\n  '__proto__': 1,\n}\nF = f(1)  # c4\n",
    place: ['OWN', 'value'],
  },
  'a.xml': {
    text: '<?xml version="1.0"?>\n<!-- c1 -->\n<Root>\n  <Kept a="1">x</Kept><!-- c2 -->\n  <Own>\n    <Value>old</Value>\n    <!-- c3 -->\n  </Own>\n</Root>\n<!-- c4 -->\n',
    place: ['Root', 'Own', 'Value'],
    shown: text => text || null,
  },
  'a.ini': {
    text: '; c1\r\n[kept]\r\na = b\r\n# c2\r\n[own] ; c3\r\nvalue = old\r\n; c4\r\n',
    place: ['own', 'value'],
  },
  'rclone.conf': { text: '# c1\n[kept]\na = b\n# c2\n[own]\n; c3\nvalue = old\n# c4\n', place: ['own', 'value'] },
  'postgresql.conf': {
    text: "# c1\nkept = 'a b' # c2\nvalue = old # c3\n# c4\n",
    place: ['value'],
    shown: text => (/^'(?:[^'\\]|''|\\.)*'$/s.test(text) ? text.slice(1, -1) : text),
  },
};
const COMMENTS = ['c1', 'c2', 'c3', 'c4'];

const SIGNS =
  '" \' \\ # ; : = , [ ] { } < > & % $ | * ! ? @ ` ~ - .. null yes 0x1 1e3 __proto__ </a> ]]> --> // /*'.split(' ');
const piece = fc.oneof(
  fc.constantFrom(...SIGNS, ' ', '\t', '\n', '\r'),
  fc.string({ unit: ANY_CHARACTER, maxLength: 3 }),
);
const anyText = fc.array(piece, { maxLength: 4 }).map(parts => parts.join(''));
const name = fc.oneof(fc.constantFrom('value', 'new', 'constructor', 'toString'), fc.stringMatching(/^[a-z]{1,6}$/));

const dir = testDir(t, Object.fromEntries(Object.entries(SAMPLES).map(([file, { text }]) => [file, text])));
const blocks = Object.keys(SAMPLES).map((file, index) => [
  `service${index}`,
  { process_name: file, config_dir: dir, config_file: path.join(dir, file) },
]);
const app = await startHost({ plugins: [...PLUGINS, ...FORMATS], config: Object.fromEntries(blocks) });
t.teardown(() => app.stop());

for (const [file, { text, place, shown = (given: string) => given }] of Object.entries(SAMPLES))
  t.test(file, async t => {
    const send = (more: object) => app.post('/config/service-config', { service_name: file, ...more });
    const nested = (key: string, value: unknown) =>
      [...place.slice(0, -1), key].reduceRight<unknown>((inner, at) => ({ [at]: inner }), value);
    let saved = 0;
    const check = fc.asyncProperty(name, anyText, fc.boolean(), async (key, value, isWhole) => {
      await writeFile(path.join(dir, file), text);
      const before = (await send({})).body.config;
      const updates = mergedValues(isWhole ? before : {}, nested(key, value)) as object;
      const answer = await send({ updates, mode: isWhole ? 'replace' : 'merge' });
      const after = await readFile(path.join(dir, file), 'utf8');
      if (answer.status === 400) return after === text && typeof answer.body.detail === 'string';
      if (answer.status !== 200) return false;
      saved += 1;
      const { config, raw, revision } = (await send({})).body;
      const isRead = deepEqual(config, mergedValues(before, nested(key, shown(value))));
      const isCommented = COMMENTS.every(comment => after.split(comment).length === 2);
      return isRead && isCommented && raw === after && revision === answer.body.revision;
    });
    await t.resolves(fc.assert(check, { seed: 7, numRuns: rounds(25) }));
    t.ok(saved > 5, 'many saves were made', { saved });
  });

t.test('concurrent saves are all made, but only one of those for one revision', async t => {
  for (const [file, { text, place }] of Object.entries(SAMPLES)) {
    await writeFile(path.join(dir, file), text);
    const send = (more: object) => app.post('/config/service-config', { service_name: file, ...more });
    const update = (key: string) =>
      [...place.slice(0, -1), key].reduceRight<unknown>((inner, at) => ({ [at]: inner }), 'new');
    const keys = Array.from({ length: 8 }, (_none, index) => `more${index}`);
    const statuses = async (saves: readonly object[]) =>
      (await Promise.all(saves.map(send))).map(({ status }) => status).sort();
    t.same(new Set(await statuses(keys.map(key => ({ updates: update(key) })))), new Set([200]), file);
    const { raw, revision } = (await send({})).body;
    t.ok([...keys, ...COMMENTS].every(word => raw.includes(word)));
    const late = await statuses(keys.map(key => ({ updates: update(`${key}x`), revision })));
    t.same(late, [200, ...keys.slice(1).map(() => 409)], `${file}: for one revision`);
  }
  t.same((await readdir(dir)).sort(), Object.keys(SAMPLES).sort(), 'nothing is left beside the files');
});
