// R3 and R5: a service that ends its first thread and works on in others is a zombie by its state, and alive.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { readStat } from '../../plugins/process/supervise/proc-stat.ts';
import { testDir } from '../support/directory.ts';
import { type RunningStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PERL = '/usr/bin/perl';
/** Number of the system call `exit`, which ends one thread alone. */
const EXIT = process.arch === 'arm64' ? 93 : 60;
const PROGRAM = `threads->create(sub { sleep 1 while 1 })->detach; sleep 1; syscall(${EXIT}, 0)`;
const skip = existsSync(PERL) ? false : 'needs perl';

const post = async ({ base }: RunningStackwarden, what: string) => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ process_name: 'Kid' });
  const answer = await fetch(`${base}/process/${what}-service`, { method: 'POST', headers, body });
  return { status: answer.status, body: await answer.json() };
};

t.test('it is adopted by the next host, not started beside, and ended by a stop', { skip }, async t => {
  const configDir = testDir(t, {});
  const kid = {
    enabled: true,
    process_name: 'Kid',
    command: [PERL, '-Mthreads', '-e', PROGRAM],
    suppress_logging: true,
    stop_grace_seconds: 1,
  };
  const port = await writeConfig(configDir, { kid });
  const plugins = ['config', 'process'];
  const first = await startStackwarden(configDir, port, { plugins });
  const pidOf = async (): Promise<number | undefined> =>
    JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8')).processes.Kid?.pid;
  const pid = await until(pidOf);
  t.teardown(() => {
    if (readStat(pid) !== null) process.kill(pid, 'SIGKILL');
  });
  await until(() => readStat(pid)?.state === 'Z', { what: 'the end of its first thread' });
  t.match(await post(first, 'start'), { status: 200, body: { status: /already running/ } });
  first.child.kill('SIGKILL');
  await first.exited;

  const second = await startStackwarden(configDir, port, { plugins });
  await until(() => second.stdout().includes(`is still running as pid ${pid} and was adopted`), {
    timeoutMs: 20_000,
    what: 'the adoption',
  });
  t.equal(await pidOf(), pid);
  t.match(await post(second, 'stop'), { status: 200, body: { status: 'Service stopped successfully' } });
  t.not(readStat(pid)?.threads, 2, 'no thread of it is left');
  second.child.kill('SIGTERM');
  t.same(await second.exited, { code: 0, signal: null });
});
