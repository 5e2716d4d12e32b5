// A host that does not find its own cgroup where cgroups are mounted, as in some containers, starts its services.
import { spawnSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { kid } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const hidden = (directory: string) => [
  'unshare',
  '--mount',
  'sh',
  '-c',
  'mount --bind "$0" /sys/fs/cgroup && exec "$@"',
  directory,
];
const [program = '', ...words] = hidden('/var');
const skip = spawnSync(program, [...words, 'true']).status === 0 ? false : 'mount namespaces may not be made here';

t.test('cgroups of others alone are mounted', { skip }, async t => {
  const configDir = testDir(t, { cgroups: {} });
  await chmod(configDir, 0o755);
  const port = await writeConfig(configDir, {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    kid: { ...kid('Kid', ['calm']), enabled: true },
  });
  const host = await startStackwarden(configDir, port, {
    plugins: ['process'],
    within: hidden(path.join(configDir, 'cgroups')),
  });
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  const get = async (route: string) => (await fetch(`${host.base}${route}`)).json() as Promise<Record<string, unknown>>;
  await until(async () => (await get('/process/startup-status')).terminal, { what: 'the end of the start' });
  t.match(await get('/process/startup-status'), { phase: 'ready' });
  t.match(await get('/process/service-status?process_name=Kid'), { status: 'running' });
});
