// A host that may not signal its services, as root without CAP_KILL: a stop says so, and the services stay as they are.
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { kid, lives } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may drop capabilities';

t.test('a stop, a restart and a shutdown that are not permitted', { skip }, async t => {
  const configDir = testDir(t, {});
  await chmod(configDir, 0o755);
  const port = await writeConfig(configDir, { kid: { ...kid('Kid', ['calm']), enabled: true } });
  const host = await startStackwarden(configDir, port, {
    plugins: ['config', 'process'],
    within: ['setpriv', '--bounding-set=-kill'],
  });
  const pid = await until(async () => {
    const state = JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));
    return host.stdout().includes('Kid runs as pid') ? (state.processes.Kid?.pid as number | undefined) : undefined;
  });
  t.teardown(async () => {
    if (lives(pid)) process.kill(pid, 'SIGKILL');
    host.child.kill('SIGTERM');
    await host.exited;
  });
  const refusal = new RegExp(
    `^Failed to stop Kid: Stackwarden may not signal ${pid} of another user; give it .*CAP_KILL`,
  );
  for (const command of ['stop-service', 'restart-service']) {
    const answer = await fetch(`${host.base}/process/${command}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: 'Kid' }),
    });
    t.equal(answer.status, 500);
    t.match(((await answer.json()) as { detail: string }).detail, refusal);
  }
  t.ok(lives(pid));
  const answer = await fetch(`${host.base}/process/service-status?process_name=Kid`);
  t.match(await answer.json(), { status: 'running' });
  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 1 });
  t.match(host.stdout(), `a process outlived the shutdown: Failed to stop Kid: Stackwarden may not signal ${pid}`);
  t.ok(lives(pid));
});
