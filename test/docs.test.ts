// What the Markdown files name is there: files, links, scripts of npm and commands of the command line.
import { access, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { COMMON_OPTIONS } from '../core/cli/command-line.ts';
import { CommandSet } from '../core/cli/command-set.ts';
import { productSources } from './support/product-sources.ts';

const rootDir = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'core/README.md', 'plugins/README.md'];
const FOLDERS = ['core', 'plugins', 'templates', 'test', 'docs'];
/** Of a folder of a plugin, whose ever it is. */
const ANYWHERE = /^index\.(ts|js)$/;

async function pages(): Promise<{ page: string; text: string }[]> {
  const records = (await readdir(path.join(rootDir, 'docs/decisions'))).map(name => `docs/decisions/${name}`);
  return Promise.all(
    [...PAGES, ...records].map(async page => ({ page, text: await readFile(path.join(rootDir, page), 'utf8') })),
  );
}

async function exists(...place: string[]): Promise<boolean> {
  return access(path.join(rootDir, ...place)).then(
    () => true,
    () => false,
  );
}

/** Below each of these, or as the name of a source file anywhere. */
async function isThere(name: string, page: string, files: ReadonlySet<string>): Promise<boolean> {
  if (!name.includes('/')) return files.has(name) || ANYWHERE.test(name);
  const places = ['', path.dirname(page), 'core'];
  return (await Promise.all(places.map(place => exists(place, name)))).includes(true);
}

t.test('files that are named in backticks, commands and links are there', async t => {
  const listed = await Promise.all(
    FOLDERS.map(folder => readdir(path.join(rootDir, folder), { recursive: true }).catch(() => [])),
  );
  const files = new Set(listed.flat().map(name => path.basename(name)));
  let named = 0;
  for (const { page, text } of await pages()) {
    const prose = text.replaceAll(/```[\s\S]*?```/g, '');
    const quoted = [...prose.matchAll(/`([\w@./-]+)`/g)].map(([, name = '']) => name);
    const sources = quoted.filter(
      name => /^[^.].*\.(ts|mjs|cjs)$/.test(name) || new RegExp(`^(${FOLDERS.join('|')})/[a-z]`).test(name),
    );
    const typed = [...text.matchAll(/(?:^|[ =])(?:\.\/)?((?:core|test)\/[\w./-]+\.(?:ts|mjs))\b/gm)].map(
      ([, name = '']) => name,
    );
    for (const name of new Set([...sources, ...typed])) {
      t.ok(await isThere(name, page, files), `${page} names ${name}`);
      named += 1;
    }
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)\)/g)) {
      if (!/^https?:/.test(target)) t.ok(await exists(path.dirname(page), target), `${page} links to ${target}`);
    }
  }
  t.ok(named > 50, 'names were found');
});

t.test('scripts and commands that are to be typed are there', async t => {
  const { scripts } = JSON.parse(await readFile(path.join(rootDir, 'package.json'), 'utf8'));
  const commands = new CommandSet(rootDir);
  const benches = await readdir(path.join(rootDir, 'test/bench'));
  for (const { page, text } of await pages()) {
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?([a-z]+)/g))
      t.ok(script in scripts, `${page} runs the script ${script}`);
    for (const [, command = ''] of text.matchAll(/npx stackwarden ([a-z][a-z-]+)/g))
      t.ok(await commands.find(command), `${page} runs the command ${command}`);
    for (const [, command = '', options = ''] of text.matchAll(/npx stackwarden ([a-z-]+)((?: [^\n`]*?)?)(?=[\n`])/g)) {
      const known = [...COMMON_OPTIONS, ...((await commands.find(command))?.options ?? [])].map(({ flags }) => flags);
      for (const [option] of options.matchAll(/(?<= )--[a-z-]+/g))
        t.match(known.join(), option, `${page} gives ${command} the option ${option}`);
    }
    for (const [, bench = ''] of text.matchAll(/npm run bench ([a-z-]+)/g))
      t.ok(benches.includes(`${bench}.ts`), `${page} runs the bench ${bench}`);
  }
});

/** Variables that are read but are nobody's to set, or not those of the product. */
const NOT_TOLD: Readonly<Record<string, string>> = {
  PATH: 'of every machine',
  HOME: 'of every machine',
  TERM: 'of every terminal',
  DEBUG: 'of a service',
  CONFIG_PATH: 'of a service',
  NAME: 'an example in a comment',
  PIP_CACHE_DIR: 'of a build',
  DUMB_PLUGINS_DIRS: 'a value of the configuration by its place',
  STACKWARDEN_CHECK_ANSWERS: 'for tests',
};

t.test('variables that the product reads are told', async t => {
  const readme = await readFile(path.join(rootDir, 'README.md'), 'utf8');
  const read = (await productSources()).flatMap(({ text }) =>
    [...text.matchAll(/\benv\.([A-Z][A-Z0-9_]+)\b/g)].map(([, name = '']) => name),
  );
  t.ok(read.includes('STACKWARDEN_URL'), 'names were found');
  for (const name of new Set(read))
    if (!Object.hasOwn(NOT_TOLD, name)) t.match(readme, new RegExp(`\`${name}\``), `README.md tells of ${name}`);
  for (const name of Object.keys(NOT_TOLD)) t.ok(read.includes(name), `${name} is read`);
});

t.test('each record of a decision is complete', async t => {
  const records = (await pages()).filter(({ page }) => /\/\d{3}-/.test(page));
  records.forEach(({ page, text }, index) => {
    t.match(path.basename(page), new RegExp(`^${String(index + 1).padStart(3, '0')}-`), 'none is missing');
    t.match(text, new RegExp(`^# ${index + 1}\\. `), page);
    for (const part of ['Context', 'Decision', 'Why', 'Consequences'])
      t.match(text, `**${part}.**`, `${page}: ${part}`);
  });
});
