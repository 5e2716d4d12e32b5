// A build with the packages that it names beside it and no others, so that it runs with node alone.
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const rootDir = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the builder with these options; gives its output. */
export async function runBuilder(args: readonly string[]): Promise<string> {
  const builder = path.join(rootDir, 'core/build/trim.ts');
  return (
    await run(process.execPath, ['--import=tsx', builder, ...args], {
      cwd: rootDir,
      env: { ...process.env, NODE_OPTIONS: '' },
    })
  ).stdout;
}

/** Builds into `outDir`; no `plugins`: all. */
export async function buildInto(outDir: string, plugins?: readonly string[]): Promise<string> {
  const stdout = await runBuilder([...(plugins === undefined ? [] : ['--plugins', plugins.join()]), '--out', outDir]);
  await linkPackages(outDir);
  return stdout;
}

/** Puts the dependencies that a manifest names into its `node_modules`. */
async function linkPackages(directory: string): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(path.join(directory, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = path.join(directory, 'node_modules', name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.join(rootDir, 'node_modules', name), link);
  }
}
