// Line 16: a full supervisor/ keeps the host neither from starting nor from saying which path is full.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { kid } from '../support/kids.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';

const run = promisify(execFile);

t.test('start, refusal and stop', { skip: process.getuid?.() === 0 ? false : 'only root may mount' }, async t => {
  const configDir = testDir(t);
  const state = path.join(configDir, 'supervisor');
  await mkdir(state);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', state]);
  t.teardown(() => run('umount', ['--lazy', state]));
  await writeFile(path.join(state, 'filler'), Buffer.alloc(1024 * 1024)).catch(() => undefined);
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm']) });
  const host = await startStackwarden(configDir, port, { plugins: ['config', 'process'] });
  const answer = await fetch(`${host.base}/process/start-service`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ process_name: 'Kid' }),
  });
  t.equal(answer.status, 503);
  t.match(await answer.text(), `${state}`);
  host.child.kill('SIGTERM');
  t.equal((await host.exited).code, 0);
});
