// A PATH of a test's own: few programs of this machine, and scripts that stand in for others.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';

/** What every system has. */
const COMMON = ['sh', 'rm', 'mkdir', 'chmod', 'cp', 'cat'];

/** Each tells its version when it is asked for it. */
export type Tools = Readonly<Record<string, string>>;

/** Gives a function that has this process, and what it starts, find these tools and no others until the test ends. */
export function ownTools(t: Test, dir: string): (tools: Tools, version?: string) => Promise<void> {
  const before = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = before;
  });
  let count = 0;
  return async (tools, version = '22.1.0') => {
    count += 1;
    const bin = path.join(dir, `bin-${count}`);
    await mkdir(bin);
    for (const tool of COMMON) await symlink(`/bin/${tool}`, path.join(bin, tool));
    for (const [name, script] of Object.entries(tools)) {
      const text = `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; exit; fi\n${script}\n`;
      await writeFile(path.join(bin, name), text, { mode: 0o755 });
    }
    process.env.PATH = bin;
  };
}
