// Replaces PATH for a test: a few programs of this machine, and scripts that stand in for others.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';

/** Programs that every system has. */
const COMMON = ['sh', 'rm', 'mkdir', 'chmod', 'cp', 'cat'];

/** Shell scripts by name. Each prints the version when it is called with `--version`. */
export type Tools = Readonly<Record<string, string>>;

/**
 * Returns a function that replaces the tools on PATH, for this process and those that it starts, until the test ends.
 */
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
