// `watch` where changes must be looked for: by the variable, and where the kernel has no watches left.
import { execFile } from 'node:child_process';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { ownLogText } from '../../support/own-log.ts';
import { type StackwardenOptions, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
/** A user name space has a limit of its own for watches; in the inner one the host is no root. */
const LIMIT = 'echo 1 > /proc/sys/user/max_inotify_watches && exec unshare -U --map-user=1000 --map-group=1000 "$@"';
const WITHOUT_WATCHES = ['unshare', '-Ur', 'sh', '-c', LIMIT, 'sh'];

/** Starts a host whose service watches a file and a directory, and changes both. Resolves with the own log. */
async function changed(t: Test, options: StackwardenOptions): Promise<string> {
  const base = testDir(t, { app: { file: '1', dir: {} }, config: {} });
  const dir = path.join(base, 'app');
  for (const place of [base, dir]) await chmod(place, 0o755);
  const configDir = path.join(base, 'config');
  const port = await writeConfig(configDir, {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    app: {
      enabled: true,
      process_name: 'App',
      command: ['sleep', '600'],
      config_dir: dir,
      suppress_logging: true,
      stop_grace_seconds: 1,
      watch: { paths: ['file', 'dir'], delay_seconds: 0.1 },
    },
  });
  const { child, exited } = await startStackwarden(configDir, port, { plugins: ['watch-files'], ...options });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  const text = () => ownLogText(path.join(configDir, 'log')).catch(() => '');
  const told = (line: string) => until(async () => (await text()).includes(line), { what: line, timeoutMs: 60_000 });
  await told('App is watched for changes');
  await writeFile(path.join(dir, 'file'), '22', { mode: 0o644 });
  await told(`App is restarted: ${dir}/file changed`);
  await writeFile(path.join(dir, 'dir', 'part'), '1', { mode: 0o644 });
  await told(`App is restarted: ${dir}/dir/part changed`);
  await mkdir(path.join(dir, 'next'), { mode: 0o755 });
  await rename(path.join(dir, 'dir'), path.join(dir, 'away'));
  await rename(path.join(dir, 'next'), path.join(dir, 'dir'));
  await told(`App is restarted: ${dir}/dir`);
  return text();
}

t.test('where the variable says so', async t => {
  t.notMatch(await changed(t, { env: { STACKWARDEN_WATCH_POLLING: '1' } }), /no watches are left/);
});

t.test('where no watches are left', async t => {
  const [program = '', ...words] = WITHOUT_WATCHES;
  const isPermitted = await run(program, [...words, 'true']).then(
    () => true,
    () => false,
  );
  if (!isPermitted) return t.comment('user name spaces are not permitted here');
  const log = await changed(t, { within: WITHOUT_WATCHES });
  t.match(log, /App: no watches are left, changes are looked for every 2 s/);
  t.notMatch(log, /is not watched for changes/);
});
