// Mounts a file system of links that answers slowly, not at all, or disappears; see link-mount.cjs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { linkDir } from './links.ts';

const SERVER = path.join(import.meta.dirname, 'link-mount.cjs');

/** Mounts at `mount` in `dir`, a directory of the test. `end` kills the server of the file system. */
export async function mountLinks(t: Test, { folders = 4, links = 5, delayMs = 0 } = {}) {
  const dir = linkDir(t);
  const mount = path.join(dir, 'mount');
  mkdirSync(mount);
  const words = [mount, folders, links, delayMs].map(String);
  const server = spawn(process.execPath, [SERVER, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(server, 'exit');
  t.teardown(async () => {
    server.kill('SIGKILL');
    await gone;
    spawnSync('umount', ['-l', mount]);
  });
  await once(server.stdout, 'data');
  return { dir, mount, end: () => server.kill('SIGKILL') };
}
