// Programs, in place of those of services, that note the arguments and variables they were started with.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from './until.ts';

export interface Seen {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const END = '--- end of part ---';

/** Makes a shell script that writes its arguments and variables to `<file>.seen`, whichever user runs it. */
export async function noting(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const note = `{ printf '%s\\n' "$0" "$@" '${END}'; env; printf '%s\\n' '${END}'; } > '${file}.seen'`;
  await writeFile(file, `#!/bin/sh\n${note}\nexec sleep 600\n`);
  await writeFile(`${file}.seen`, '');
  await chmod(file, 0o755);
  await chmod(`${file}.seen`, 0o666);
}

/** What the program noted at its last start. */
export async function seenBy(file: string): Promise<Seen> {
  const [args = '', env = ''] = await until(
    async () => {
      const parts = (await readFile(`${file}.seen`, 'utf8')).split(`${END}\n`);
      return parts.length === 3 ? parts : undefined;
    },
    { what: `a run of ${file}` },
  );
  const pairs = env.split('\n').map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  return { args: args.trimEnd().split('\n').slice(1), env: Object.fromEntries(pairs) };
}
