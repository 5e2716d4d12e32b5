// The mount table of this process's name space, read without touching any mount point: a dead one holds whoever looks at it.
import { readFile } from 'node:fs/promises';

export interface Mount {
  readonly directory: string;
  /** File system type, for example `ext4` or `fuse.sshfs`. */
  readonly type: string;
}

/** Fields of each line: proc(5), `/proc/[pid]/mountinfo`. The newest mount of a directory comes last. */
export async function readMounts(): Promise<readonly Mount[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  return table
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [before = '', after = ''] = line.split(' - ');
      return { directory: decode(before.split(' ')[4] ?? ''), type: after.split(' ')[0] ?? '' };
    });
}

/** The kernel writes space, tab, newline and backslash in octal. */
function decode(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
