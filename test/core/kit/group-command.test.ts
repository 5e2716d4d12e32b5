// Programs in a process group of their own: their output, their failures, and that nothing of them remains.
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { type GroupCommand, runInGroup } from '../../../core/kit/group-command.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

t.test('lines are passed on, failures are described, and the whole group ends', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;
  const lines: string[] = [];
  const run = (script: string, more: Partial<GroupCommand> = {}) =>
    runInGroup({
      argv: ['sh', '-c', script],
      cwd: dir,
      env: { PATH: process.env.PATH ?? '' },
      user,
      limitMs: 60_000,
      signal: new AbortController().signal,
      onLines: told => void lines.push(...told),
      ...more,
    });

  await run(
    'printf "\\033[32mone\\033[0m\\n10%%\\r20%%\\r\\n\\n token=abcdefgh1234 \\nend"; echo wrong >&2; id -u > who',
  );
  t.same([...lines].sort(), ['10%', '20%', 'end', 'one', 'token=[REDACTED]', 'wrong'], 'lines, without secrets');
  if (user !== null) t.equal((await readFile(path.join(dir, 'who'), 'utf8')).trim(), '65534');
  await run('until [ "$(nice)" = 7 ]; do sleep 0.02; done; nice > nice', { niceness: 7 });
  t.equal((await readFile(path.join(dir, 'nice'), 'utf8')).trim(), '7');

  await t.rejects(run('echo a; echo b; echo c; echo d; exit 3'), { message: / failed: b; c; d$/ });
  await t.rejects(run('exit 3'), { message: / failed: it ended with 3$/ });
  await t.rejects(run('', { argv: [path.join(dir, 'missing')] }), { message: /missing failed: .*not found$/ });
  await t.rejects(run('', { argv: ['/missing'], cwd: undefined }), { message: /missing failed: no such file/ });
  if (user !== null) await t.rejects(run('pwd', { cwd: '/root' }), { message: /permission denied|can't cd/i });
  await t.rejects(run('sleep 600', { limitMs: 50 }), { message: / failed: it took longer than 0.05 s$/ });
  await t.rejects(run('exit 1', { signal: AbortSignal.abort(new Error('over')) }), { message: 'over' });

  const cancel = new AbortController();
  const cancelled = run('sleep 600 & echo $! > pid.part; mv pid.part pid; wait', { signal: cancel.signal });
  const pid = await until(async () => Number(await readFile(path.join(dir, 'pid'), 'utf8').catch(() => '')));
  cancel.abort();
  await t.rejects(cancelled, { message: / failed: it was cancelled$/ });
  await until(() => !isAlive(pid), { what: 'the end of what it had started' });

  const away = async (prefix: string, how: string): Promise<number> => {
    const script = `${prefix} setsid sleep 600 & echo $! > away.pid; ${how}`;
    await t.rejects(run(script, { limitMs: 1_000 }), { message: / failed: it (ended with 4|took longer than 1 s)$/ });
    return Number(await readFile(path.join(dir, 'away.pid'), 'utf8'));
  };
  for (const how of ['exit 4', 'exec sleep 600']) {
    const left = await away('', how);
    await until(() => !isAlive(left), { what: 'the end of what had made a session of its own' });
  }
  const serve = 'setsid sleep 600 >/dev/null 2>&1 & echo $! > away.pid';
  const begun = async (): Promise<number> => Number(await readFile(path.join(dir, 'away.pid'), 'utf8'));
  await run(serve, { mayLeave: true });
  const service = await begun();
  t.ok(isAlive(service), 'it may be a service of the machine');
  process.kill(service, 'SIGKILL');
  await t.rejects(run(`${serve}; sleep 0.2; exit 4`, { mayLeave: true }), { message: / failed: it ended with 4$/ });
  const other = await begun();
  // An ended process that its parent has not waited for yet has no command line.
  t.match(
    await readFile(`/proc/${other}/cmdline`, 'utf8'),
    /^sleep/,
    'also when another of the packages could not be installed',
  );
  process.kill(other, 'SIGKILL');
  for (const how of ['exec sleep 600', 'kill -KILL $$']) {
    await t.rejects(run(`${serve}; sleep 0.2; ${how}`, { mayLeave: true, limitMs: 1_000 }));
    const work = await begun();
    await until(() => !isAlive(work), { what: 'the end of work in another session of what was ended' });
  }
  const unmarked = await away('env -i', 'exit 4');
  t.ok(isAlive(unmarked), 'what holds its output open, and cannot be found, is not waited for');
  process.kill(unmarked, 'SIGKILL');
});
