// Replaces a build in one step. `dist` is a link to one of several builds, so a running host keeps the one that it was
// started from.
import { lstat, mkdir, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';

const BUILDS = '.builds';

/** The path for the next build, beside the one that it will replace. */
export async function stageFor(outDir: string, isLink: boolean): Promise<string> {
  const name = `${new Date().toISOString().replaceAll(/[-:]|\.\d+Z/g, '')}-${process.pid}`;
  const stage = isLink
    ? path.join(path.dirname(outDir), BUILDS, name)
    : path.join(path.dirname(outDir), `.${path.basename(outDir)}.${name}`);
  await mkdir(path.dirname(stage), { recursive: true });
  return stage;
}

/** Replaces the link atomically. Removes earlier builds, except the previous one and those that a process runs from. */
export async function swapLink(outDir: string, stage: string): Promise<void> {
  const builds = path.dirname(stage);
  const link = `${stage}.link`;
  await symlink(path.relative(path.dirname(outDir), stage), link);
  const former = await formerBuild(outDir, builds);
  await rename(link, outDir);
  const inUse = await placesHeldOpen();
  for (const name of await readdir(builds)) {
    const build = path.join(builds, name);
    if (build === stage || build === former || inUse.has(build)) continue;
    await rm(build, { recursive: true, force: true });
  }
}

/**
 * The build that `outDir` has been until now. A plain directory, as earlier releases made, is moved among the builds.
 */
async function formerBuild(outDir: string, builds: string): Promise<string | undefined> {
  const found = await lstat(outDir).catch(() => undefined);
  if (found?.isSymbolicLink()) return path.resolve(path.dirname(outDir), await readlink(outDir));
  if (found === undefined) return undefined;
  const moved = path.join(builds, `former-${process.pid}`);
  await rename(outDir, moved);
  return moved;
}

/** Directories that processes hold open, as a host does with its build. Processes of other users cannot be examined. */
async function placesHeldOpen(): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const directory = `/proc/${pid}/fd`;
    for (const descriptor of await readdir(directory).catch(() => [])) {
      held.add(await readlink(path.join(directory, descriptor)).catch(() => ''));
    }
  }
  return held;
}

/** Replaces a directory from which nothing runs, such as one that is copied into an image. */
export async function swapDirectory(outDir: string, stage: string): Promise<void> {
  const former = `${stage}.former`;
  await rename(outDir, former).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(stage, outDir);
  await rm(former, { recursive: true, force: true });
}
