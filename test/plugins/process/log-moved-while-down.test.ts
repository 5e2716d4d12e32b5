// A host that is killed between a write to a service's log and the record of it, and whose configuration names another
// log before the next start: each line is in one of the two logs, once.
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { GuardedDirectory } from '../../../core/kit/guarded-directory.ts';
import { PositionFile, START } from '../../../plugins/process/capture/position.ts';
import { testDir } from '../../support/directory.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { kid } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process'];
/** Ten lines, and ten more for each of the files that are named. */
const SCRIPT = `
n=0; say() { for _ in 1 2 3 4 5 6 7 8 9 10; do n=$((n + 1)); echo "line $n"; done; }
say; for file in "$@"; do until [ -e "$file" ]; do sleep 0.1; done; say; done; exec sleep 600`;

t.test('lines that a killed host did not record are cut off the log that has them', async t => {
  const dir = testDir(t, { log: {} });
  await chmod(dir, 0o755);
  const logs = ['before', 'after'].map(name => path.join(dir, 'log', name, 'kid.log'));
  const go = ['second', 'third'].map(name => path.join(dir, name));
  const block = (log_file = '') => ({
    ...kid('Kid', [], { enabled: true }),
    command: ['sh', '-c', SCRIPT, 'sh', ...go],
    log_file,
  });
  const port = await writeConfig(dir, { kid: block(logs[0]), dumb: { log_dir: path.join(dir, 'log') } });
  const numbers = async (): Promise<number[]> => {
    const texts = await Promise.all(logs.map(file => readFile(file, 'utf8').catch(() => '')));
    return texts.flatMap(text => [...text.matchAll(/line (\d+)$/gm)].map(([, number]) => Number(number)));
  };
  const supervisor = path.join(dir, 'supervisor');
  const position = async (): Promise<string> => {
    const [name = ''] = (await readdir(supervisor)).filter(file => file.endsWith('.position'));
    return path.join(supervisor, name);
  };
  const recorded = async () => {
    const { positions, last } = await GuardedDirectory.at(await position(), PositionFile.open);
    await positions.close();
    return last ?? START;
  };

  const first = await startStackwarden(dir, port, { plugins: PLUGINS });
  await until(async () => (await numbers()).length === 10 && (await recorded()).consumedBytes > 70);
  const before = await recorded();
  await writeFile(go[0] ?? '', '');
  await until(async () => (await numbers()).length === 20);
  first.child.kill('SIGKILL');
  await first.exited;
  const { positions } = await GuardedDirectory.at(await position(), PositionFile.open);
  await positions.record({ ...before, pendingBytes: 4_096 });
  await positions.close();
  await changeMainFile(dir, config => ({ ...config, kid: block(logs[1]) }));

  const second = await startStackwarden(dir, port, { plugins: PLUGINS });
  t.teardown(async () => {
    second.child.kill('SIGTERM');
    await second.exited;
  });
  await until(() => second.stdout().includes('Kid is still running'));
  await writeFile(go[1] ?? '', '');
  await until(async () => (await numbers()).includes(30));
  t.same(
    await numbers(),
    Array.from({ length: 30 }, (_, index) => index + 1),
  );
});
