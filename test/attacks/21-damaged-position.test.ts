// Of line 21: a damaged record of how far a spool was read neither loses nor doubles a line.
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { kid } from '../support/kids.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process'];
/** 120 lines, and one more when the file `$0` is there. */
const SCRIPT =
  'i=0; while [ $i -lt 120 ]; do i=$((i+1)); echo "line $i"; done; until [ -e "$0" ]; do sleep 0.1; done; echo "line 121"; exec sleep 600';

for (const [what, damage] of [
  ['garbage', 'garbage'],
  ['nothing', ''],
  ['NULs', '\0'.repeat(96)],
] as const)
  t.test(`a position that became ${what} neither loses nor doubles a line`, async t => {
    const dir = testDir(t, {});
    const file = path.join(dir, 'log', 'count.log');
    const go = path.join(dir, 'go');
    await chmod(dir, 0o755);
    const block = { ...kid('Count', [], { enabled: true }), command: ['sh', '-c', SCRIPT, go], log_file: file };
    const port = await writeConfig(dir, { count: block });
    const numbers = async () => [...(await readFile(file, 'utf8')).matchAll(/line (\d+)$/gm)].map(([, n]) => Number(n));
    const first = await startStackwarden(dir, port, { plugins: PLUGINS });
    await until(async () => (await numbers()).length === 120);
    first.child.kill('SIGKILL');
    await first.exited;

    const supervisor = path.join(dir, 'supervisor');
    const [position = ''] = (await readdir(supervisor)).filter(name => name.endsWith('.position'));
    await writeFile(path.join(supervisor, position), damage);
    const second = await startStackwarden(dir, port, { plugins: PLUGINS });
    t.teardown(async () => {
      second.child.kill('SIGTERM');
      await second.exited;
    });
    await until(() => second.stdout().includes('how far the output of Count was read is not known'));
    await until(() => second.stdout().includes('Count is still running'));
    await writeFile(go, '');
    await until(async () => (await numbers()).includes(121), { what: 'the line after' });
    t.same(
      await numbers(),
      Array.from({ length: 121 }, (_, i) => i + 1),
    );
  });
