// Finds files and folders that look like plugins but are not loaded, in all plugin directories except the product's.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { findIndexFile, isOfProduct, SOURCE_FILE } from './discover.ts';

/** Installed packages, which plugins share. */
const PACKAGES = 'node_modules';

/**
 * One sentence for each folder without an index file, and for each source file that would have to be in a folder. A
 * name that begins with a dot is left out: it marks what is meant to be there, such as code that plugins share.
 */
export async function strayEntries(directories: readonly string[]): Promise<string[]> {
  const found = await Promise.all(directories.map(directory => straysIn(directory)));
  return found.flat();
}

async function straysIn(directory: string): Promise<string[]> {
  // A directory that cannot be read is reported by discover.ts.
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
