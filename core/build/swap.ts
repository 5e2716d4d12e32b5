// Puts a finished build in its place at once. `dist` is a link to one of several: a host goes on with the one it was started from.
import { lstat, mkdir, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';

const BUILDS = '.builds';

/** A directory for the next build, beside what it will replace. */
export async function stageFor(outDir: string, isLink: boolean): Promise<string> {
  const name = `${new Date().toISOString().replaceAll(/[-:]|\.\d+Z/g, '')}-${process.pid}`;
  const stage = isLink
    ? path.join(path.dirname(outDir), BUILDS, name)
    : path.join(path.dirname(outDir), `.${path.basename(outDir)}.${name}`);
  await mkdir(path.dirname(stage), { recursive: true });
  return stage;
}

/** The link is replaced in one step. A former build is removed when nobody runs from it and it is not the last one. */
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

/** What `outDir` stood for until now. A plain directory of an earlier release moves among the builds. */
async function formerBuild(outDir: string, builds: string): Promise<string | undefined> {
  const found = await lstat(outDir).catch(() => undefined);
  if (found?.isSymbolicLink()) return path.resolve(path.dirname(outDir), await readlink(outDir));
  if (found === undefined) return undefined;
  const moved = path.join(builds, `former-${process.pid}`);
  await rename(outDir, moved);
  return moved;
}

/** A host holds its own directory open for as long as it runs. Of processes of other users nothing can be seen. */
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

/** For a directory from which nothing runs, such as one that is copied into an image. */
export async function swapDirectory(outDir: string, stage: string): Promise<void> {
  const former = `${stage}.former`;
  await rename(outDir, former).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(stage, outDir);
  await rm(former, { recursive: true, force: true });
}
