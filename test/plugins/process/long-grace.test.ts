// A start beside leftovers of an earlier host waits as long as these may take to end, by the grace of their service.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import t from 'tap';
import { marksOf } from '../../../plugins/process/supervise/run-marks.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { lives, start, status } from '../../support/kids.ts';
import { followTimers } from '../../support/living-timers.ts';
import { until } from '../../support/until.ts';

const GRACE_S = 600;
/** What a stop takes at most beyond its grace. */
const BEYOND_MS = 90_000;

t.test('a start outlasts a long grace', async t => {
  const runId = randomUUID();
  const env = { ...process.env, ...marksOf({ runId, processName: 'Kid', directory: '/nowhere' }) };
  const leader = spawn('sh', ['-c', 'trap "" TERM; sleep 600 & echo $!'], { detached: true, env });
  const [said] = await once(leader.stdout, 'data');
  const left = Number(String(said));
  t.teardown(() => {
    if (lives(left)) process.kill(left, 'SIGKILL');
  });
  await once(leader, 'exit');
  const record = { pid: leader.pid, pgid: leader.pid, start_time: 1, boot_id: '', started_at: 1, run_id: runId };
  const recorded = { ...record, spool: '/nowhere/kid.spool', block_digest: '', config_key: '', path: [], block: {} };
  const state = JSON.stringify({ version: 1, processes: { Kid: recorded } });
  const timers = followTimers(t);
  const app = await startHost({
    configDir: testDir(t, { supervisor: { 'state.json': state } }),
    plugins: ['config', 'process'],
    config: {
      kid: {
        enabled: false,
        process_name: 'Kid',
        command: ['sleep', '600'],
        suppress_logging: true,
        stop_grace_seconds: GRACE_S,
      },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal, { what: 'the boot' });
  t.equal((await status(app, 'Kid')).status, 'unknown');
  const starting = start(app, 'Kid');
  await until(() => timers(GRACE_S * 1_000 + BEYOND_MS) === 1, { what: 'the wait' });
  process.kill(left, 'SIGKILL');
  t.equal((await starting).status, 200);
});
