// `npm run docs`: writes what each tool of the kit is into core/kit/README.md, from the comment that its file begins
// with. Which tools belong together stands in that page alone.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rootDir } from './compile.ts';

const kitDir = path.join(rootDir, 'core', 'kit');
export const KIT_README = path.join(kitDir, 'README.md');
const ROW = /^- \[([a-z0-9-]+)\]\(\1\.ts\)/;

/** The page with what each tool is. Throws an Error that names the tools that the page lacks, has twice or still has. */
export async function withTools(page: string): Promise<string> {
  const files = (await readdir(kitDir)).filter(file => file.endsWith('.ts')).map(file => path.basename(file, '.ts'));
  const unlisted = new Set(files);
  const lines: string[] = [];
  for (const line of page.split('\n')) {
    const name = ROW.exec(line)?.[1];
    if (name !== undefined && !unlisted.delete(name)) throw new Error(`${KIT_README} has ${name} twice, or it is gone`);
    lines.push(name === undefined ? line : `- [${name}](${name}.ts): ${await purposeOf(name)}`);
  }
  if (unlisted.size > 0) throw new Error(`${KIT_README} has no line for ${[...unlisted].sort().join(', ')}`);
  return lines.join('\n');
}

/** The first sentence of the file, or as much of it as says what the file holds. */
async function purposeOf(name: string): Promise<string> {
  const lines = (await readFile(path.join(kitDir, `${name}.ts`), 'utf8')).split('\n');
  const end = lines.findIndex(line => !line.startsWith('//'));
  const comment = lines.slice(0, end).map(line => line.slice('//'.length).trim());
  return comment.join(' ').split(/[.:;](?: |$)/, 1)[0] as string;
}

if (process.argv[1] === import.meta.filename) {
  await writeFile(KIT_README, await withTools(await readFile(KIT_README, 'utf8')));
}
