// Tests mirror plugins: every plugin folder has a folder of tests of the same name that exercises it.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const rootDir = fileURLToPath(new URL('..', import.meta.url));

async function foldersOf(...place: string[]): Promise<string[]> {
  const entries = await readdir(path.join(rootDir, ...place), { withFileTypes: true });
  return entries.filter(entry => entry.isDirectory()).map(entry => entry.name);
}

async function textOf(folder: string): Promise<string> {
  const directory = path.join(rootDir, 'test', 'plugins', folder);
  const files = (await readdir(directory).catch(() => [])).filter(name => name.endsWith('.test.ts'));
  return (await Promise.all(files.map(name => readFile(path.join(directory, name), 'utf8')))).join('\n');
}

t.test('every plugin has a mirror that tests it', async t => {
  for (const plugin of await foldersOf('plugins')) {
    const text = await textOf(plugin);
    t.match(text, /\b(t\.test|test[A-Z]\w+|hold[A-Z]\w+)\(/, `test/plugins/${plugin} has a test`);
  }
});

t.test('a mirror without a plugin is left over', async t => {
  const plugins = await foldersOf('plugins');
  t.same(
    (await foldersOf('test', 'plugins')).filter(name => !plugins.includes(name)),
    [],
  );
});
