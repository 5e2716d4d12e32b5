// `npm run docs`: writes what each file of a large room is into the room's README.md, from the comment that the file
// begins with. Which files belong together stands in that page alone.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rootDir } from './compile.ts';

/** The rooms that have such a page. */
export const LARGE_ROOMS = ['core/host', 'core/kit'];
const ROW = /^- \[([a-z0-9-]+)\]\(\1\.ts\)/;

export function pageOf(room: string): string {
  return path.join(rootDir, room, 'README.md');
}

/**
 * The page with the purpose of each file. Throws an Error that names a file that the page lacks, has twice, or still
 * has after the file is gone.
 */
export async function withPurposes(room: string, page: string): Promise<string> {
  const files = await readdir(path.join(rootDir, room));
  const unlisted = new Set(files.filter(file => file.endsWith('.ts')).map(file => path.basename(file, '.ts')));
  const lines: string[] = [];
  for (const line of page.split('\n')) {
    const name = ROW.exec(line)?.[1];
    if (name !== undefined && !unlisted.delete(name))
      throw new Error(`${pageOf(room)} has ${name} twice, or it is gone`);
    lines.push(name === undefined ? line : `- [${name}](${name}.ts): ${await purposeOf(room, name)}`);
  }
  if (unlisted.size > 0) throw new Error(`${pageOf(room)} has no line for ${[...unlisted].sort().join(', ')}`);
  return lines.join('\n');
}

/** The first sentence of the file, which says what it holds. */
async function purposeOf(room: string, name: string): Promise<string> {
  const lines = (await readFile(path.join(rootDir, room, `${name}.ts`), 'utf8')).split('\n');
  const end = lines.findIndex(line => !line.startsWith('//'));
  const comment = lines.slice(0, end).map(line => line.slice('//'.length).trim());
  return comment.join(' ').split(/\.(?: |$)/, 1)[0] as string;
}

if (process.argv[1] === import.meta.filename)
  for (const room of LARGE_ROOMS) {
    const page = pageOf(room);
    await writeFile(page, await withPurposes(room, await readFile(page, 'utf8')));
  }
