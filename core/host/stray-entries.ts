// What lies in a plugin directory of somebody else and is loaded by nobody, although its place lets one expect a
// plugin.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { findIndexFile, isOfProduct, SOURCE_FILE } from './discover.ts';

/** Installed packages, which plugins share. */
const PACKAGES = 'node_modules';

/**
 * One sentence for each folder without an index file, and for each file that would have to lie in a folder. Hidden
 * names are left out: so is said what is meant to lie there, such as code that plugins share.
 */
export async function strayEntries(directories: readonly string[]): Promise<string[]> {
  const found = await Promise.all(directories.map(directory => straysIn(directory)));
  return found.flat();
}

async function straysIn(directory: string): Promise<string[]> {
  // One that cannot be read is told by whoever looks for plugins in it.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const sentences: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry;
    const place = path.join(directory, name);
    if (name.startsWith('.') || name === PACKAGES || isOfProduct(place)) continue;
    const otherwise = 'if it is meant to lie there, begin its name with a dot';
    if (entry.isFile()) {
      if (!SOURCE_FILE.test(name) || name.endsWith('.d.ts')) continue;
      const { name: stem, ext } = path.parse(name);
      const index = path.join(directory, stem, `index${ext}`);
      sentences.push(`${place} is not loaded, because a plugin is a folder: move it to ${index}; ${otherwise}`);
    } else if ((entry.isDirectory() || entry.isSymbolicLink()) && (await findIndexFile(place)) === undefined)
      sentences.push(
        `${place} is not loaded, because it has no index.js, index.mjs or index.ts: give it one; ${otherwise}`,
      );
  }
  return sentences;
}
