// The rules that keep rooms apart: who may import whom, what files may be called, what may not be written anywhere.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const rootDir = fileURLToPath(new URL('..', import.meta.url));
const IMPORT = /^(import|export)\s+(type\s+)?[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;
const MAX_INDEX_LINES = 120;
/** A home directory, an address of a private network, a name that only one network knows. */
const PRIVATE = /\/(home|Users)\/[a-z]|\b(10|192\.168)\.\d+\.\d+\.\d+(?!\d|\/\d)|\.(lan|internal|localdomain)\b/;

async function sources(directory: string): Promise<{ file: string; text: string }[]> {
  const entries = await readdir(path.join(rootDir, directory), { recursive: true, withFileTypes: true });
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => path.relative(rootDir, path.join(entry.parentPath, entry.name)));
  return Promise.all(files.map(async file => ({ file, text: await readFile(path.join(rootDir, file), 'utf8') })));
}

function imports(text: string): { specifier: string; typeOnly: boolean }[] {
  return [...text.matchAll(IMPORT)].map(match => ({
    specifier: match[3] ?? match[4] ?? match[5] ?? '',
    typeOnly: match[2] !== undefined,
  }));
}

/** Each room may use those after it; rooms of one line do not use each other. */
const ROOMS = [['build', 'cli'], ['host'], ['ws'], ['http', 'config', 'jobs', 'log'], ['kit'], ['contract']];

t.test('the core imports no plugin, and a room only what lies below it', async t => {
  const floor = (room: string): number => ROOMS.findIndex(rooms => rooms.includes(room));
  for (const { file, text } of await sources('core')) {
    const [, room = ''] = file.split(path.sep);
    if (!file.endsWith('.ts')) continue;
    t.ok(floor(room) >= 0, `${file} stands in a room`);
    for (const { specifier } of imports(text)) {
      t.notMatch(specifier, /plugins\/|^#/, `${file} imports ${specifier}`);
      if (!specifier.startsWith('.')) continue;
      const [, other = ''] = path.join(path.dirname(file), specifier).split(path.sep);
      t.ok(other === room || floor(other) > floor(room), `${file} imports ${specifier}`);
    }
  }
});

t.test('a plugin imports #core, #kit, packages and its own folder; types may cross', async t => {
  for (const { file, text } of await sources('plugins')) {
    if (!file.endsWith('.ts')) continue;
    const own = path.join(rootDir, ...file.split(path.sep).slice(0, 2));
    for (const { specifier, typeOnly } of imports(text)) {
      const target = specifier.startsWith('.') ? path.resolve(rootDir, path.dirname(file), specifier) : specifier;
      const inside = !specifier.startsWith('.') || target.startsWith(own + path.sep);
      const typesOfAPlugin = typeOnly && target.startsWith(path.join(rootDir, 'plugins') + path.sep);
      t.ok(inside || typesOfAPlugin, `${file} imports ${specifier}`);
    }
  }
});

t.test('one file opens databases of the host, and one those of services', async t => {
  const opening = [];
  for (const { file, text } of [...(await sources('core')), ...(await sources('plugins'))]) {
    const lines = text
      .split('\n')
      .filter(line => /['"]better-sqlite3['"]/.test(line) && !line.startsWith('import type '));
    if (lines.length > 0) opening.push(file);
  }
  t.same(opening, [path.join('core', 'kit', 'sqlite-as-user.ts'), path.join('core', 'kit', 'sqlite-file.ts')]);
});

t.test('one file makes queues, which keep whose work it is', async t => {
  const queueing = [];
  for (const { file, text } of [...(await sources('core')), ...(await sources('plugins'))])
    if (/from 'p-queue'/.test(text)) queueing.push(file);
  t.same(queueing, [path.join('core', 'kit', 'work-queue.ts')]);
});

t.test('rooms of a plugin do not use each other in a circle', async t => {
  const uses = new Map<string, Set<string>>();
  for (const { file, text } of await sources('plugins')) {
    const room = roomOf(file);
    if (!file.endsWith('.ts')) continue;
    for (const { specifier } of imports(text)) {
      const other = roomOf(path.join(path.dirname(file), specifier));
      if (!specifier.startsWith('.') || other === room || path.dirname(other) !== path.dirname(room)) continue;
      uses.set(room, (uses.get(room) ?? new Set()).add(other));
    }
  }
  const circleFrom = (room: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(room)) return [...way.slice(way.indexOf(room)), room];
    const further = [...(uses.get(room) ?? [])].map(other => circleFrom(other, [...way, room]));
    return further.find(circle => circle !== undefined);
  };
  for (const room of uses.keys()) t.same(circleFrom(room, []), undefined, room);
});

/** A folder below that of the plugin, or a file beside the rooms, which is one of its own. */
function roomOf(file: string): string {
  return file.split(path.sep).slice(0, 3).join(path.sep);
}

t.test('files say what they hold', async t => {
  const all = [...(await sources('core')), ...(await sources('plugins')), ...(await sources('test'))];
  for (const { file, text } of all) {
    t.notMatch(path.basename(file), /^(utils?|helpers?|managers?|misc|types|common)\./, file);
    if (/^plugins\/[^/]+\/index\.ts$/.test(file))
      t.ok(text.split('\n').length <= MAX_INDEX_LINES, `${file} is readable on one screen`);
    if (file.endsWith('.ts')) t.match(text, /^(#!.*\n)?\/\/ \S/, `${file} begins with what it is`);
  }
});

t.test('nothing tells of one machine', async t => {
  const folders = ['core', 'plugins', 'templates', 'test'];
  const all = (await Promise.all(folders.map(sources))).flat();
  for (const name of ['README.md', 'package.json', 'tsconfig.json']) {
    all.push({ file: name, text: await readFile(path.join(rootDir, name), 'utf8') });
  }
  for (const { file, text } of all) {
    const line = text.split('\n').find(line => PRIVATE.test(line));
    if (file !== path.join('test', 'boundaries.test.ts')) t.equal(line, undefined, file);
  }
});

/** Keys of updates, installs, backups and other areas, which their own plugins and the templates describe. */
const KEYS_OF_AREAS =
  /symlink_backup|auto_update|pinned_version|release_version|clear_on_update|media_protection|notifications|\bai\b/;

t.test('the configuration names no area, and the entry of the host in one place', async t => {
  const configuration = [...(await sources('core')), ...(await sources('plugins/config'))];
  const settings = (await sources('plugins/process')).filter(({ file }) => path.basename(file) === 'settings.ts');
  for (const { file, text } of [...configuration, ...settings]) t.notMatch(text, KEYS_OF_AREAS, file);
  const all = [...(await sources('core')), ...(await sources('plugins'))];
  const naming = all.filter(({ text }) => text.includes('dumb_api_service')).map(({ file }) => file);
  t.same(naming, [path.join('core', 'kit', 'named-blocks.ts')]);
});
