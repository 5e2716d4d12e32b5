// Service files and updates that nest deep or are large: they are refused with a sentence, or served in linear time,
// while the host goes on answering.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';

const PLUGINS = [
  'health',
  'config',
  'process',
  'services',
  'config-files',
  'format-json',
  'format-xml',
  'format-yaml',
  'format-conf',
  'format-python',
];
const NAMES = ['a.json', 'a.yaml', 'a.xml', 'a.py', 'a.ini', 'a.conf', 'postgresql.conf'];

const SMALL: Readonly<Record<string, string>> = {
  'a.json': '{"a": 1}',
  'a.yaml': 'a: 1\n',
  'a.xml': '<R><a>1</a></R>',
  'a.py': 'a = 1\n',
  'a.ini': '[s]\na = 1\n',
  'a.conf': '[s]\na = 1\n',
  'postgresql.conf': 'a = 1\n',
};

const dir = testDir(t, SMALL);
const blocks = NAMES.map((name, index) => [
  `service${index}`,
  { process_name: name, config_dir: dir, config_file: path.join(dir, name) },
]);
const app = await startHost({ plugins: PLUGINS, config: Object.fromEntries(blocks) });
t.teardown(() => app.stop());
const call = (name: string, updates?: unknown) =>
  app.post('/config/service-config', { service_name: name, ...(updates === undefined ? {} : { updates }) });
const put = (name: string, text: string) => writeFile(path.join(dir, name), text);

/** Texts that nest `depth` levels, closed and not. */
const DEEP: Readonly<Record<string, (depth: number) => string>> = {
  'a.json': depth => `{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`,
  'a.yaml': depth => `a: ${'['.repeat(depth)}`,
  'a.xml': depth => `<R>${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}</R>`,
  'a.py': depth => `a = ${'('.repeat(depth)}${')'.repeat(depth)}\n`,
};

t.test('a file or an update that nests deeper than 100 levels is refused, small or large', async t => {
  for (const [name, deep] of Object.entries(DEEP)) {
    for (const depth of [101, 20_000, 100_000]) {
      await put(name, deep(depth));
      const read = await call(name);
      t.ok([400, 413, 422].includes(read.status), `${name}: ${depth} levels in the file`, { status: read.status });
      t.type(read.body.detail, 'string');
      await put(name, SMALL[name] ?? '');
      for (const updates of [deep(depth), '['.repeat(depth), '{"a":'.repeat(depth)]) {
        const { status } = await call(name, updates);
        t.ok([400, 413].includes(status), `${name}: ${depth} levels in the update`, { status });
      }
    }
  }
  t.equal((await app.get('/health')).status, 200, 'the host lives');
});

const COUNT = 12_000;
/** Requests of others during a change. */
const OTHERS = 3;
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/**
 * Files of many members, and updates of many of them: work that grows with the square takes far longer than a request.
 */
const WIDE: Readonly<Record<string, { readonly text: string; readonly updates: object }>> = {
  'a.json': {
    text: `{\n${range(COUNT)
      .map(at => `  "k${at}": ${at}`)
      .join(',\n')}\n}\n`,
    updates: Object.fromEntries(range(COUNT).map(at => [`k${at * 2}`, -at - 1])),
  },
  'a.yaml': {
    text: range(COUNT / 4)
      .map(at => `k${at}: ${at}\n`)
      .join(''),
    updates: Object.fromEntries(range(COUNT / 4).map(at => [`k${at * 2}`, -at - 1])),
  },
  'a.xml': {
    text: `<R>\n${range(COUNT)
      .map(at => `  <k${at}>${at}</k${at}>\n`)
      .join('')}${'  <same>1</same>\n'.repeat(COUNT)}</R>\n`,
    updates: Object.fromEntries(range(COUNT).map(at => [`k${at * 2}`, String(-at - 1)])),
  },
  'a.py': {
    text: range(COUNT)
      .map(at => `k${at} = ${at}\n`)
      .join(''),
    updates: Object.fromEntries(range(COUNT).map(at => [`k${at * 2}`, -at - 1])),
  },
  'a.ini': {
    text: `[s]\n${range(COUNT)
      .map(at => `k${at} = ${at}\n`)
      .join('')}`,
    updates: { s: Object.fromEntries(range(COUNT).map(at => [`k${at * 2}`, -at - 1])) },
  },
  'postgresql.conf': {
    text: range(COUNT)
      .map(at => `k${at} = ${at}\n`)
      .join(''),
    updates: Object.fromEntries(range(COUNT).map(at => [`k${at * 2}`, -at - 1])),
  },
};

for (const [name, { text, updates }] of Object.entries(WIDE)) {
  t.test(`${name}: thousands of values are read and changed at once, while the host answers others`, async t => {
    await put(name, text);
    t.equal((await call(name)).status, 200);
    let isOver = false;
    const changing = call(name, updates).finally(() => {
      isOver = true;
    });
    let meanwhile = 0;
    for (; !isOver && meanwhile < OTHERS; meanwhile += 1) await app.get('/health');
    t.match(await changing, { status: 200, body: { status: 'updated', detail: undefined } });
    t.ok(meanwhile > 1, 'others were answered meanwhile', { meanwhile });
    t.match(await readFile(path.join(dir, name), 'utf8'), /k2\W+-2\b/);
  });
}

t.test('texts that parsers try again and again are answered', async t => {
  const long = 300_000;
  const texts: Readonly<Record<string, readonly string[]>> = {
    'a.json': [`{"a": "${'\\u00'.repeat(long / 4)}"}`, `{${'"a":1 '.repeat(long / 6)}}`, '/*'.repeat(long / 2)],
    'a.yaml': [`a: ${'"'.repeat(long)}`, `a: ${'- '.repeat(50)}${' '.repeat(long)}x`, `${'? '.repeat(long / 2)}`],
    'a.xml': [
      `<R${' '.repeat(long)}`,
      `<R${' a=""'.repeat(long / 5)}`,
      `<R>${'<!--'.repeat(long / 4)}`,
      `<R>${'&'.repeat(long)}</R>`,
    ],
    'a.py': [
      `a = ${"'\\\n".repeat(long / 3)}`,
      `a = 1${' '.repeat(long)}x\n`,
      `a = ${'"" '.repeat(long / 3)}\n`,
      `${'a=('.repeat(long / 3)}`,
    ],
    'a.ini': [`a${' '.repeat(long)}b`, `a = b${' '.repeat(long)}c\n`, `[a]${' '.repeat(long)}x\n`, ' '.repeat(long)],
    'postgresql.conf': [`a = '${"''".repeat(long / 2)}\n`, `a${' '.repeat(long)}`, `a = b${' '.repeat(long)}c\n`],
  };
  for (const [name, hostile] of Object.entries(texts)) {
    for (const text of hostile) {
      await put(name, text);
      const { status } = await call(name);
      t.ok([200, 400, 413, 422].includes(status), `${name}: ${text.slice(0, 12)}...`, { status });
    }
  }
});
