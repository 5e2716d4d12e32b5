// `stackwarden create-plugin`: copies the template of a plugin in TypeScript, with its test, and with its JavaScript
// where this release of Node cannot load TypeScript.
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLUGIN_NAME } from '../host/discover.ts';
import { makeDirectory } from '../kit/make-directory.ts';

const templateDir = fileURLToPath(new URL('../../templates/plugin', import.meta.url));
const productPlugins = fileURLToPath(new URL('../../plugins', import.meta.url));
/** The template's name, which the new plugin's name replaces. */
const NAME = /my([-_])plugin/g;

/** Makes the plugin's folder in the directory `into`, and resolves with its path. */
export async function createPlugin(name: string, into: string): Promise<string> {
  if (!PLUGIN_NAME.test(name))
    throw new Error(`'${name}' is no name: lower-case letters, digits and hyphens may be used`);
  if (existsSync(path.join(productPlugins, name)))
    throw new Error(`${name} is a plugin of Stackwarden, which would be loaded instead; choose another name`);
  const folder = path.join(into, name);
  if (existsSync(folder)) throw new Error(`${folder} is there already; choose another name`);
  const named = (text: string): string => text.replaceAll(NAME, (_, joint: string) => name.replaceAll('-', joint));
  const files = await readdir(templateDir, { recursive: true, withFileTypes: true });
  for (const entry of files.filter(candidate => candidate.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    const relative = path.relative(templateDir, file);
    // Where Node runs TypeScript, a copy in JavaScript would only become outdated.
    if (relative === 'index.js' && 'typescript' in process.features && process.features.typescript) continue;
    const target = path.join(folder, named(relative));
    await makeDirectory(path.dirname(target), { mode: 0o755 });
    await writeFile(target, named(await readFile(file, 'utf8')), { mode: 0o644, flag: 'wx' });
  }
  return folder;
}
