// A container whose file systems are all read-only but for the configuration directory, so that SQLite has no place for
// temporary files: samples are kept all the same.
import { chmod } from 'node:fs/promises';
import t from 'tap';
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

t.test('samples are kept without a directory for temporary files', { skip }, async t => {
  const configDir = testDir(t, {});
  await chmod(configDir, 0o755);
  const port = await writeConfig(configDir, { metrics: { history_interval_sec: 5 } });
  const host = await startStackwarden(configDir, port, {
    plugins: ['config', 'process', 'metrics', 'metrics-history'],
    env: { TMPDIR: '', SQLITE_TMPDIR: '' },
    within: ['unshare', '--mount', 'sh', '-c', READ_ONLY, configDir],
  });
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  await until(async () => (await fetch(`${host.base}/metrics/history_series`)).status === 200);
  t.notMatch(host.stdout(), 'disk I/O error');
});
