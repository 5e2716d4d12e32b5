// Where the product itself lies: a build is a part of the directory that holds its packages, which run as it does.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isAtOrBelow } from './path-rules.ts';

const PACKAGES = 'node_modules';

/** `folder` is the one that the program runs from. */
export function installDirs(folder: string): string[] {
  const root = path.resolve(folder);
  let above = root;
  while (above !== '/' && !existsSync(path.join(above, PACKAGES))) above = path.dirname(above);
  const packages = path.join(above, PACKAGES);
  if (!existsSync(packages)) return [root];
  // Installed among the packages of another project, it shares these with it, and nothing else.
  const isShared = above === '/' || isAtOrBelow(root, packages);
  return [...new Set([root, isShared ? packages : above])];
}
