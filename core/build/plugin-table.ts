// `npm run docs`: the table of points, hooks, events and services in plugins/README.md, read from the code.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rootDir } from './compile.ts';
import { readSeams, tableOf } from './seams.ts';

const BEGIN = '<!-- table: made by npm run docs -->';
const END = '<!-- end of table -->';
export const README = path.join(rootDir, 'plugins', 'README.md');

/** The page with its table as the code has it now. Throws an Error when the page has no place for it. */
export async function withTable(page: string): Promise<string> {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${README} has no place for the table`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${tableOf(await readSeams(rootDir))}\n${page.slice(to)}`;
}

if (process.argv[1] === import.meta.filename) await writeFile(README, await withTable(await readFile(README, 'utf8')));
