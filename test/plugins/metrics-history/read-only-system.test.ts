// Machines on which SQLite has no place for temporary files, because every file system but that of the configuration
// directory is read-only, or because the one of /var/tmp is full: samples are kept all the same.
import { chmod } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may mount';

const READ_ONLY = `set -e
mount --make-rprivate /
for place in /tmp /var/tmp; do mount --bind "$place" "$place"; mount -o remount,bind,ro "$place"; done
mount -o remount,bind,ro /
mount --bind "$0" "$0"
mount -o remount,bind,rw "$0"
cd /
exec "$@"`;

const FULL = `set -e
mount --make-rprivate /
mount -t tmpfs -o size=64k none /var/tmp
head -c 100000 /dev/zero > /var/tmp/filler 2> /dev/null || true
exec "$@"`;

async function keepsSamples(t: Test, script: string): Promise<void> {
  const configDir = testDir(t, {});
  await chmod(configDir, 0o755);
  const port = await writeConfig(configDir, { metrics: { history_interval_sec: 5 } });
  const host = await startStackwarden(configDir, port, {
    plugins: ['config', 'process', 'metrics', 'metrics-history'],
    env: { TMPDIR: '', SQLITE_TMPDIR: '' },
    within: ['unshare', '--mount', 'sh', '-c', script, configDir],
  });
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  await until(async () => (await fetch(`${host.base}/metrics/history_series`)).status === 200);
  t.notMatch(host.stdout(), / - ERROR - metrics-history: /);
}

t.test('no directory takes temporary files', { skip }, t => keepsSamples(t, READ_ONLY));
t.test('the one that SQLite chooses is full', { skip }, t => keepsSamples(t, FULL));
