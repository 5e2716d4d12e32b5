// A build with the packages that it names beside it and no others, so that it runs with node alone.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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

/** Builds into `outDir`; no `plugins`: all. Gives what the builder says. */
export async function buildInto(outDir: string, plugins?: readonly string[]): Promise<string> {
  const stdout = await runBuilder([...(plugins === undefined ? [] : ['--plugins', plugins.join()]), '--out', outDir]);
  await linkPackages(outDir);
  return stdout;
}

/** A build of everything that nobody changes: that of the run, or one of the test's own where it runs alone. */
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

/** Puts the dependencies that a manifest names into its `node_modules`. */
async function linkPackages(directory: string): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(path.join(directory, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = path.join(directory, 'node_modules', name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.join(rootDir, 'node_modules', name), link);
  }
}
