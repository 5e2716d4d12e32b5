// The table of seams in plugins/README.md agrees with the code, and a test uses each seam.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { README, withTable } from '../../../core/build/plugin-table.ts';
import { readSeams, tableOf } from '../../../core/build/seams.ts';

const rootDir = fileURLToPath(new URL('../../..', import.meta.url));

async function testSources(): Promise<string[]> {
  const files = await readdir(path.join(rootDir, 'test'), { recursive: true });
  const own = path.relative(path.join(rootDir, 'test'), fileURLToPath(import.meta.url));
  return Promise.all(
    files
      .filter(file => file.endsWith('.ts') && file !== own)
      .map(file => readFile(path.join(rootDir, 'test', file), 'utf8')),
  );
}

t.test('the table is up to date; npm run docs writes it', async t => {
  const page = await readFile(README, 'utf8');
  t.equal(await withTable(page), page);
});

t.test('all seams of the code are found', async t => {
  const seams = await readSeams(rootDir);
  const named = (kind: string) => seams.filter(seam => seam.kind === kind).map(({ name }) => name);
  t.ok(named('point').includes('config.schema') && named('point').includes('process.probe'));
  t.ok(named('hook').includes('host.ready') && named('hook').includes('process.prepare'));
  t.ok(named('service').includes('access') && named('service').includes('process.supervisor'));
  t.same(named('hook'), [...new Set(named('hook'))], 'each once');
  const count = (text: string, sign: string) => text.split(sign).length;
  for (const { name, type } of seams)
    t.ok(type.length > 0 && count(type, '{') === count(type, '}'), `${name} has its whole type: ${type}`);
  const prepare = seams.find(({ name }) => name === 'process.prepare');
  t.match(prepare, { owner: 'process', type: /^AsyncSeriesWaterfallHook</, description: /vetoes the start/ });
  const deadlineOf = (wanted: string) => seams.find(({ name }) => name === wanted)?.deadlineMs;
  t.same(
    [
      'config.schema',
      'ai.evidence',
      'process.survivor',
      'config.check',
      'host.stopping',
      'process.prepare',
      'service.uis',
      'config.store',
    ].map(deadlineOf),
    [10_000, 65_000, 30_000, 10_000, 5_000, 900_000, 60_000, null],
  );
  for (const { name, description } of seams) t.match(description, /\w{3}/, `${name} says what it is, and when`);
  t.match(tableOf(seams), /\| `process\.prepare` \| process \|/);
});

/** What a use of each kind of seam looks like, for seams whose names are also other words. */
const CALLS = {
  point: /\.(?:contribute|contributions)\(/,
  hook: /\.(?:tap|hook)\(/,
  event: /\.(?:on|emit)\(|\b(?:event_?type|type)s?\b[^\n]*/i,
  service: /\.(?:use|find|provide)(?:<[^(]*>)?\(/,
};

t.test('a test uses each point, hook, event and service', async t => {
  const texts = await testSources();
  for (const { kind, name } of await readSeams(rootDir)) {
    // A name without a dot may also be that of a plugin.
    const use = new RegExp(`${name.includes('.') ? '' : CALLS[kind].source}'${name.replaceAll('.', '\\.')}'`, 'i');
    t.ok(
      texts.some(text => use.test(text)),
      `${kind} ${name}`,
    );
  }
});
