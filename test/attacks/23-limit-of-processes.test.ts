// Line 23: no further process or thread may be made for a while. What needs one is refused, what runs
// goes on running, and everything works again afterwards.
import { execFile } from 'node:child_process';
import { chown } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { kid } from '../support/kids.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';

const run = promisify(execFile);
const skip = process.getuid?.() === 0 ? false : 'only root may change the user';
/** Of nobody else, because the limit counts all processes of a user. */
const UID = 54_321;
const ENOUGH = 1_000;
const [program, ...words] = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'] as const;

t.test('a limit that is reached, and raised', { skip }, async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir, { puid: UID, pgid: UID, kid: kid('Kid', ['calm']) });
  await Promise.all(['', 'stackwarden.json'].map(name => chown(path.join(configDir, name), UID, UID)));
  const host = await startStackwarden(configDir, port, {
    plugins: ['config', 'process', 'notifications'],
    within: [program, ...words],
    env: { HOME: configDir },
  });
  const ask = async (route: string, body?: object) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(host.base + route, body === undefined ? {} : options);
    return { status: response.status, text: await response.text() };
  };
  // Read by a thread, because it is long.
  const save = () => ask('/config', { updates: { kid: { note: 'x'.repeat(200_000) } }, persist: false });
  // Answered from a database, whose thread is started by the first question.
  const changes = () => ask('/notifications/history');
  const start = () => ask('/process/start-service', { process_name: 'Kid' });
  // The soft limit alone, which a user may raise again.
  const limit = (nproc: number) =>
    run(program, [...words, 'prlimit', '--pid', String(host.child.pid), `--nproc=${nproc}:`]);
  const refusal = { status: 503, text: /the limit of processes and threads is reached; raise that limit \(ulimit -u/ };

  await limit(1);
  t.match(await start(), refusal);
  t.match(await save(), refusal);
  t.match(await save(), refusal);
  t.match(await changes(), refusal);
  await limit(ENOUGH);
  t.match(await changes(), { status: 200 });
  t.match(await save(), { status: 200 });
  t.match(await start(), { status: 200 });

  const pid = async () => /"pid":\d+/.exec((await ask('/process/service-statuses')).text)?.[0];
  const restart = () => ask('/process/restart-service', { process_name: 'Kid' });
  const first = await pid();
  await limit(1);
  t.match(await restart(), {
    status: 503,
    text: /Kid goes on running instead of being restarted, because the limit of/,
  });
  t.equal(await pid(), first);
  await limit(ENOUGH);
  t.match(await restart(), { status: 200 });
  t.not(await pid(), first);
  host.child.kill('SIGTERM');
  t.equal((await host.exited).code, 0);
});
