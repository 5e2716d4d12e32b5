// Of line 21: a damaged record of how far a spool was read neither loses nor doubles a line.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { kid } from '../support/kids.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process'];
const SCRIPT = 'i=0; while [ $i -lt 120 ]; do i=$((i+1)); echo "line $i"; done; while :; do sleep 1; done';

for (const [what, damage] of [
  ['garbage', 'garbage'],
  ['nothing', ''],
  ['NULs', '\0'.repeat(96)],
] as const)
  t.test(`a position that became ${what} neither loses nor doubles a line`, async t => {
    const dir = testDir(t, {});
    const file = path.join(dir, 'log', 'count.log');
    const block = { ...kid('Count', [], { enabled: true }), command: ['sh', '-c', SCRIPT], log_file: file };
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
    const every = Array.from({ length: 120 }, (_, i) => i + 1);
    t.same(await numbers(), every);
  });
