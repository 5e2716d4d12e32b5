// Where a service runs whose block names no directory: in one of its own, never in that of the host.
import { chmod, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const HERE = {
  enabled: true,
  process_name: 'Here & There',
  command: ['sh', '-c', 'echo "in $(pwd -P)"; exec sleep 1000'],
};

async function directoryOf(configDir: string): Promise<string | undefined> {
  const log = await readFile(path.join(configDir, 'log', 'here.log'), 'utf8').catch(() => '');
  return /in (\/\S*)/.exec(log)?.[1];
}

t.test('a directory of its own, which is its own', async t => {
  const configDir = testDir(t, {});
  const here = { ...HERE, log_file: path.join(configDir, 'log', 'here.log') };
  const app = await startHost({ configDir, config: { here } });
  t.teardown(() => app.stop());
  const directory = await until(() => directoryOf(configDir));
  t.equal(directory, path.join(configDir, 'services', 'here-there'));
  const { uid, mode } = await stat(directory);
  t.equal(mode & 0o777, 0o750);
  if (process.getuid?.() === 0) t.equal(uid, 65_534);
  t.equal((await stat(path.dirname(directory))).uid, process.getuid?.(), 'others make no directory beside it');
});

t.test(
  'the root directory, where its user does not get there',
  { skip: process.getuid?.() !== 0 && 'needs root' },
  async t => {
    const configDir = testDir(t, {});
    const here = { ...HERE, log_file: path.join(configDir, 'log', 'here.log') };
    await chmod(configDir, 0o700);
    const app = await startHost({ configDir, config: { here } });
    t.teardown(() => app.stop());
    t.equal(await until(() => directoryOf(configDir)), '/');
  },
);
