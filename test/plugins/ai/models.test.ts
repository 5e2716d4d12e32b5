// The life cycle of models, from the product and from the owner's own file.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { Models } from '../../../plugins/ai/providers/models.ts';
import type { FoundProvider } from '../../../plugins/ai/providers/providers.ts';
import { testDir } from '../../support/directory.ts';

const found = {
  spelling: 'acme_alias',
  descriptor: {
    value: 'acme',
    models: {
      sourceUrl: 'https://acme.example/ends',
      lifecycle: [
        { model: 'One', shutdown_date: '2001-01-01', replacement: 'two' },
        { model: 'two', shutdown_date: '2002-01-01', replacement: 'three' },
        { model: 'three', shutdown_date: '2999-01-01', replacement: 'four' },
        { model: 'round', shutdown_date: '2001-01-01', replacement: 'round' },
      ],
    },
    compatibility: (model: string) => ({ status: 'supported', api_surface: 'x', reason: model }) as const,
  },
} as unknown as FoundProvider;

t.test('a retired model is named with its replacement', async t => {
  const models = new Models();
  t.same(models.lifecycleOf(found, ' models/ONE '), {
    model: 'models/ONE',
    status: 'retired',
    shutdown_date: '2001-01-01',
    replacement: 'three',
    source_url: 'https://acme.example/ends',
    provider: 'acme_alias',
  });
  t.match(models.lifecycleOf(found, 'three'), { status: 'deprecated', replacement: 'four' });
  t.equal(models.lifecycleOf(found, 'round')?.replacement, 'round', 'a circle ends');
  t.equal(models.lifecycleOf(found, 'four'), null);
  t.equal(models.lifecycleOf(found, 'constructor'), null);
  t.match(models.compatibilityOf(found, ' models/X '), { model: 'models/X', reason: 'x' });
  t.equal(models.compatibilityOf(found, ' '), null);
});

t.test("the owner's file wins for the models that it names, and a bad one counts for nothing", async t => {
  const configDir = testDir(t, {});
  const file = path.join(configDir, 'ai-diagnostics', 'models.json');
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (text: string) => void warnings.push(text), error() {} };
  const loaded = async (text?: string) => {
    await mkdir(path.dirname(file), { recursive: true });
    if (text !== undefined) await writeFile(file, text);
    const models = new Models();
    await models.load(configDir, log);
    return models;
  };
  t.equal((await loaded()).lifecycleOf(found, 'two')?.shutdown_date, '2002-01-01');
  t.same(warnings, []);
  const own = { acme: [{ model: 'two', shutdown_date: '2999-12-31', replacement: 'mine' }] };
  const models = await loaded(JSON.stringify(own));
  t.match(models.lifecycleOf(found, 'two'), { status: 'deprecated', replacement: 'mine' });
  t.match(models.lifecycleOf(found, 'one'), { status: 'retired', replacement: 'two' });
  for (const bad of ['{', '[]', '{"acme":[{"model":"two","shutdown_date":"soon","replacement":"x"}]}'])
    t.equal((await loaded(bad)).lifecycleOf(found, 'two')?.shutdown_date, '2002-01-01', bad);
  t.equal(warnings.length, 3);
  t.match(warnings[0], /models\.json is ignored/);
});
