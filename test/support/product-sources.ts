// The sources of the product, for tests that look into all of them.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));

export interface ProductSource {
  /** The path below the root of the project, with `/`. */
  readonly file: string;
  readonly text: string;
}

export async function productSources(): Promise<ProductSource[]> {
  const found = await Promise.all(
    ['core', 'plugins'].map(async directory => {
      const entries = await readdir(path.join(rootDir, directory), { recursive: true, withFileTypes: true });
      return entries
        .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
        .map(entry => path.relative(rootDir, path.join(entry.parentPath, entry.name)));
    }),
  );
  return Promise.all(
    found.flat().map(async file => ({
      file: file.split(path.sep).join('/'),
      text: await readFile(path.join(rootDir, file), 'utf8'),
    })),
  );
}
