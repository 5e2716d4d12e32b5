// A hand-over during the look for an unrecorded process of a service whose leftovers have ended: the look comes too
// late to adopt it, which is no fault, and the next host looks again.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { isRoot, NOBODY } from '../../support/race.ts';
import { until } from '../../support/until.ts';

type WorkingIn = (directory: string) => { pid: number }[];

/** Above the highest that the kernel gives. */
const NO_PID = 2 ** 22 + 1;

/** It is set up before process control, and so outlives it. */
const ACME = `export default { name: 'acme', host: '^1', setup(host) {
  host.contribute('process.survivor', 'vault', {
    configKey: 'vault',
    find: (_block, workingIn) => globalThis.findSurvivor(workingIn),
  })
} }`;

t.test('what is found after a hand-over is left to the next host', async t => {
  const record = { pid: NO_PID, pgid: NO_PID, start_time: 1, boot_id: '', started_at: 1, run_id: randomUUID() };
  const recorded = { ...record, spool: '/nowhere/vault.spool', block_digest: '', config_key: '', path: [], block: {} };
  const dir = testDir(t, {
    vault: {},
    plugins: { acme: { 'index.mjs': ACME } },
    supervisor: { 'state.json': JSON.stringify({ version: 1, processes: { Vault: recorded } }) },
  });
  const vault = path.join(dir, 'vault');
  await chmod(dir, 0o755);
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const survivor = spawn('sleep', ['1000'], { cwd: vault, detached: true, stdio: 'ignore', ...user });
  t.teardown(() => survivor.kill('SIGKILL'));
  const answers: (() => void)[] = [];
  const shared = globalThis as { findSurvivor?: (workingIn: WorkingIn) => Promise<{ pid: number } | null> };
  shared.findSurvivor = async workingIn => {
    await new Promise<void>(resolve => answers.push(resolve));
    const [found] = workingIn(vault);
    return found === undefined ? null : { pid: found.pid };
  };
  t.teardown(() => delete shared.findSurvivor);
  const app = await startHost({
    configDir: dir,
    plugins: ['config', 'process', 'acme'],
    config: {
      ...(isRoot ? { puid: NOBODY, pgid: NOBODY } : {}),
      dumb: { plugins: { required: [] } },
      vault: {
        enabled: true,
        process_name: 'Vault',
        command: ['sleep', '600'],
        config_dir: vault,
        stop_grace_seconds: 1,
      },
    },
  });
  t.teardown(() => app.stop());
  const choose = (disabled: readonly string[]) => app.post('/config', { updates: { dumb: { plugins: { disabled } } } });
  const isControl = (wanted: string) =>
    app.host.plugins().some(({ name, state }) => name === 'process' && state === wanted);
  await until(() => answers.length === 1, { what: 'the look' });
  await choose(['process']);
  await until(() => isControl('disabled'), { what: 'the hand-over' });
  answers[0]?.();
  await choose([]);
  await until(() => answers.length === 2, { what: 'the look of the next supervision' });
  answers[1]?.();
  await until(async () => (await status(app, 'Vault')).status === 'running', { what: 'the adoption' });
  t.equal(await pidOf(app, 'Vault'), survivor.pid);
  t.same(
    (await ownLog(app)).filter(line => line.includes(' - ERROR - ')),
    [],
  );
});
