// A host that may not signal its services, as root without CAP_KILL: a stop says so, and the services stay as they are.
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { kid, lives } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may drop capabilities';

/** `pid` resolves when the service was launched. */
async function startPowerless(t: Test, enabled: boolean) {
  const configDir = testDir(t, {});
  await chmod(configDir, 0o755);
  const port = await writeConfig(configDir, { kid: { ...kid('Kid', ['calm']), enabled } });
  const host = await startStackwarden(configDir, port, {
    plugins: ['config', 'process'],
    within: ['setpriv', '--bounding-set=-kill'],
  });
  const pids: number[] = [];
  t.teardown(async () => {
    for (const pid of pids.filter(lives)) process.kill(pid, 'SIGKILL');
    host.child.kill('SIGTERM');
    await host.exited;
  });
  const pid = async () => {
    const file = path.join(configDir, 'supervisor', 'state.json');
    const launched = await until(async () => {
      const state = JSON.parse(await readFile(file, 'utf8').catch(() => '{"processes":{}}'));
      return state.processes.Kid?.pid as number | undefined;
    });
    pids.push(launched);
    return launched;
  };
  const ask = async (command: string) => {
    const answer = await fetch(`${host.base}/process/${command}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: 'Kid' }),
    });
    return { status: answer.status, body: (await answer.json()) as { detail: string } };
  };
  const status = async () => (await fetch(`${host.base}/process/service-status?process_name=Kid`)).json();
  return { host, pid, ask, status };
}

const refusalOf = (pid: number) =>
  new RegExp(`^Failed to stop Kid: Stackwarden may not signal ${pid} of another user; give it .*CAP_KILL`);

t.test('a stop while the service is observed is answered', { skip }, async t => {
  const { pid: launched, ask, status } = await startPowerless(t, false);
  const started = ask('start-service');
  const pid = await launched();
  t.match(await status(), { status: 'starting' });
  t.match(await ask('stop-service'), { status: 500, body: { detail: refusalOf(pid) } });
  t.match(await started, { status: 409, body: { detail: /^Start of Kid was cancelled by a stop/ } });
  t.match(await status(), { status: 'running' });
  t.ok(lives(pid));
});

t.test('a stop, a restart and a shutdown that are not permitted', { skip }, async t => {
  const { host, pid: launched, ask, status } = await startPowerless(t, true);
  await until(() => host.stdout().includes('Kid runs as pid'));
  const pid = await launched();
  for (const command of ['stop-service', 'restart-service'])
    t.match(await ask(command), { status: 500, body: { detail: refusalOf(pid) } });
  t.ok(lives(pid));
  t.match(await status(), { status: 'running' });
  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 1 });
  t.match(host.stdout(), `a process outlived the shutdown: Failed to stop Kid: Stackwarden may not signal ${pid}`);
  t.ok(lives(pid));
});
