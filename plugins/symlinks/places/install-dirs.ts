// The directories of the product itself: the one it runs from, and the one with the packages that it loads.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isAtOrBelow } from './path-rules.ts';

const PACKAGES = 'node_modules';

/** `folder` is the directory that the program runs from. */
export function installDirs(folder: string): string[] {
  const root = path.resolve(folder);
  let above = root;
  while (above !== '/' && !existsSync(path.join(above, PACKAGES))) above = path.dirname(above);
  const packages = path.join(above, PACKAGES);
  if (!existsSync(packages)) return [root];
  // Installed as a package of another project, the product shares only the packages of that project.
  const isShared = above === '/' || isAtOrBelow(root, packages);
  return [...new Set([root, isShared ? packages : above])];
}
