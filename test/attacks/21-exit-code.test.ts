// Line 21: the exit code says whether every service has ended.
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { kid, lives } from '../support/kids.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

/** What is frozen by a cgroup of version 1 takes no signal, not even SIGKILL. */
const FREEZER = '/sys/fs/cgroup/freezer';
const skip = process.getuid?.() === 0 && existsSync(`${FREEZER}/cgroup.procs`) ? false : 'no freezer to write to';
const PLUGINS = ['config', 'process'];

async function started(t: Parameters<typeof testDir>[0]) {
  const configDir = testDir(t);
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm'], { enabled: true }) });
  const host = await startStackwarden(configDir, port, { plugins: PLUGINS });
  const state = path.join(configDir, 'supervisor/state.json');
  const pid = await until(async () => JSON.parse(await readFile(state, 'utf8')).processes.Kid?.pid as number, {
    what: 'the service',
  });
  await until(
    async () => ((await (await fetch(`${host.base}/process/startup-status`)).json()) as { terminal: boolean }).terminal,
  );
  return { host, pid };
}

t.test('0 when everything ended', async t => {
  const { host, pid } = await started(t);
  host.child.kill('SIGTERM');
  t.equal((await host.exited).code, 0);
  t.notOk(lives(pid));
});

t.test('1, and the name of the service, when one lives on', { skip }, async t => {
  const { host, pid } = await started(t);
  const frozen = path.join(FREEZER, `stackwarden-test-${pid}`);
  await mkdir(frozen);
  await writeFile(path.join(frozen, 'cgroup.procs'), String(pid));
  await writeFile(path.join(frozen, 'freezer.state'), 'FROZEN');
  await until(async () => (await readFile(path.join(frozen, 'freezer.state'), 'utf8')) === 'FROZEN\n');
  t.teardown(async () => {
    await writeFile(path.join(frozen, 'freezer.state'), 'THAWED');
    await until(() => !lives(pid));
    await until(() => rmdir(frozen).then(() => true), { what: 'the end of the freezer' });
  });
  host.child.kill('SIGTERM');
  t.equal((await host.exited).code, 1);
  t.match(host.stdout(), `still alive after the shutdown: Kid (${pid})`);
});
