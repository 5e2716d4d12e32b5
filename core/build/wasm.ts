// `npm run wasm`: assembles each file of the product in the text form of WebAssembly into a module beside it, which a
// host from the sources and a build load in the same way.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import wabt from 'wabt';
import { rootDir } from './compile.ts';

export const WAT_FILES: readonly string[] = [path.join(rootDir, 'plugins/process/capture/line-scan.wat')];

export const codeFileOf = (file: string): string => file.replace(/\.wat$/, '-code.ts');

/** The text of the module for a file. */
export async function codeModule(file: string): Promise<string> {
  const { parseWat } = await wabt();
  const module = parseWat(file, await readFile(file, 'utf8'));
  const { buffer } = module.toBinary({});
  module.destroy();
  const code = Buffer.from(buffer).toString('base64');
  return `// ${path.basename(file)} as WebAssembly in base64, made by \`npm run wasm\`.\nexport const CODE =\n  '${code}';\n`;
}

if (process.argv[1] === import.meta.filename)
  for (const file of WAT_FILES) await writeFile(codeFileOf(file), await codeModule(file));
