// Makes a build, with only the packages that it names installed beside it, so that it runs with node alone.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TYPESCRIPT } from './typescript.ts';

const run = promisify(execFile);
const rootDir = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a command as what makes an image runs it: with no more than so many open files. */
const LIMITED = 'ulimit -n 1024; exec "$0" "$@"';

/** Variables of a build. A quarter of esbuild's time would go into the memory that its end gives back. */
export const BUILD_ENV = { GOGC: 'off' };

/** Runs the builder with these options, and gives its output. The loader of the tests takes a second less than tsx. */
export async function runBuilder(args: readonly string[]): Promise<string> {
  const builder = path.join(rootDir, 'core/build/trim.ts');
  return (
    await run('sh', ['-c', LIMITED, process.execPath, TYPESCRIPT, builder, ...args], {
      cwd: rootDir,
      env: { ...process.env, ...BUILD_ENV, NODE_OPTIONS: '' },
    })
  ).stdout;
}

/** Builds into `outDir`, by default with all plugins, and gives the output of the builder. */
export async function buildInto(outDir: string, plugins?: readonly string[]): Promise<string> {
  const stdout = await runBuilder([...(plugins === undefined ? [] : ['--plugins', plugins.join()]), '--out', outDir]);
  await linkPackages(outDir);
  return stdout;
}

/** A build of everything, which no test may change: that of the test run, or a new one when the file is run alone. */
export async function sharedBuild(t: { teardown(end: () => Promise<void>): void }): Promise<string> {
  const { STACKWARDEN_TEST_BUILD: ofTheRun } = process.env;
  if (ofTheRun !== undefined) return ofTheRun;
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-build-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  const outDir = path.join(directory, 'build');
  await buildInto(outDir);
  return outDir;
}

/** Links the dependencies that the manifest of a build names into its `node_modules`. */
async function linkPackages(directory: string): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(path.join(directory, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = path.join(directory, 'node_modules', name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.join(rootDir, 'node_modules', name), link);
  }
}
