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

const DAMAGES = ['garbage', '', '\0'.repeat(96)];

t.test('positions that became garbage, nothing or NULs neither lose nor double a line', async t => {
  const dir = testDir(t, {});
  const go = path.join(dir, 'go');
  await chmod(dir, 0o755);
  const names = DAMAGES.map((_, index) => `Count ${index}`);
  const fileOf = (name: string) => path.join(dir, 'log', `${name}.log`);
  const block = (name: string) => ({
    ...kid(name, [], { enabled: true }),
    command: ['sh', '-c', SCRIPT, go],
    log_file: fileOf(name),
  });
  const port = await writeConfig(dir, Object.fromEntries(names.map((name, index) => [`count${index}`, block(name)])));
  const numbers = async (name: string) =>
    [...(await readFile(fileOf(name), 'utf8')).matchAll(/line (\d+)$/gm)].map(([, n]) => Number(n));
  const first = await startStackwarden(dir, port, { plugins: PLUGINS });
  for (const name of names) await until(async () => (await numbers(name)).length === 120, { what: `all of ${name}` });
  first.child.kill('SIGKILL');
  await first.exited;

  const supervisor = path.join(dir, 'supervisor');
  const positions = (await readdir(supervisor)).filter(name => name.endsWith('.position'));
  t.equal(positions.length, names.length);
  for (const [index, position] of positions.entries())
    await writeFile(path.join(supervisor, position), DAMAGES[index] ?? '');
  const second = await startStackwarden(dir, port, { plugins: PLUGINS });
  t.teardown(async () => {
    second.child.kill('SIGTERM');
    await second.exited;
  });
  for (const name of names) {
    await until(() => second.stdout().includes(`how far the output of ${name} was read is not known`));
    await until(() => second.stdout().includes(`${name} is still running`));
  }
  await writeFile(go, '');
  for (const name of names) {
    await until(async () => (await numbers(name)).includes(121), { what: `the line after of ${name}` });
    t.same(
      await numbers(name),
      Array.from({ length: 121 }, (_, i) => i + 1),
    );
  }
});
