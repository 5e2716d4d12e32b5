// R14: stores whose disks are full hinder nothing, and /health tells which work is not done for as long as that is so.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { startHost } from '../support/host.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const skip = process.getuid?.() === 0 ? false : 'only root may mount';
const NOTES: Readonly<Record<string, RegExp>> = {
  metrics: /samples of metrics are not kept: The database \S+ cannot grow; free some space on its disk/,
  notifications: /notifications wait in memory: The database \S+ cannot grow; free some space on its disk/,
  'ai-diagnostics':
    /the last change is not kept for diagnoses: The database \S+ cannot grow; free some space on its disk/,
};

for (const [name, note] of Object.entries(NOTES))
  t.test(name, { skip }, async t => {
    // What is too long for an answer is cut, and the directories of tests have long names.
    const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
    const disk = path.join(configDir, name);
    const filler = path.join(disk, 'filler');
    await mkdir(disk, { mode: 0o700 });
    await run('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', disk]);
    await writeFile(filler, Buffer.alloc(16 * 1_024 * 1_024)).catch(() => undefined);
    const app = await startHost({
      configDir,
      plugins: ['config', 'health', 'metrics-history', 'notifications', 'ai'],
      config: { dumb: { metrics: { history_interval_sec: 5 }, notifications: { enabled: true } } },
    });
    t.teardown(async () => {
      await app.stop();
      await run('umount', ['--lazy', disk]);
      await rm(configDir, { recursive: true });
    });
    const health = async () => (await app.get('/health')).body;
    /** The ledger takes note of changes, and of nothing else. */
    const look = async (count: number) => {
      if (name === 'ai-diagnostics')
        t.equal((await app.post('/config', { updates: { dumb: { log_count: count } } })).status, 200);
      return health();
    };
    const waits = { intervalMs: 100, what: 'what /health tells' };
    let count = 1;
    const told = await until(async () => {
      count += 1;
      const answer = await look(count);
      return note.test(answer.details ?? '') && answer;
    }, waits);
    t.equal(told.status, 'healthy', 'which ends nothing');
    await rm(filler);
    await until(async () => {
      count += 1;
      return (await look(count)).details === undefined;
    }, waits);
  });
