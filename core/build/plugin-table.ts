// `npm run docs`: writes the table of points, hooks, events and services into plugins/README.md, from the code.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rootDir } from './compile.ts';
import { readSeams, tableOf } from './seams.ts';

const BEGIN = '<!-- table: made by npm run docs -->';
const END = '<!-- end of table -->';
export const README = path.join(rootDir, 'plugins', 'README.md');

/** The page with an up-to-date table. Throws an Error when the page does not mark where the table belongs. */
export async function withTable(page: string): Promise<string> {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${README} has no place for the table`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${tableOf(await readSeams(rootDir))}\n${page.slice(to)}`;
}

if (process.argv[1] === import.meta.filename) await writeFile(README, await withTable(await readFile(README, 'utf8')));
