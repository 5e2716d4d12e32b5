// Installations that processes share: each is aborted when none of its own processes needs it any more.
import t from 'tap';
import { InstallJobs, type InstallRun } from '../../../plugins/installs/install-jobs.ts';

const KEY = '/programs/app';

/** Work that ignores its signal, as that of a package manager does, and ends when the test says so. */
function work() {
  let signal: AbortSignal | undefined;
  let end = (): void => undefined;
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  const run = (given: InstallRun) => {
    signal = given.signal;
    return ended;
  };
  return { run, end: () => end(), isAborted: () => signal?.aborted };
}

t.test('the end of an abandoned installation does not abort the next one', async t => {
  const jobs = new InstallJobs();
  const { signal } = new AbortController();
  const [first, second] = [work(), work()];
  const abandoned = jobs.join(KEY, 'App', signal, first.run);
  jobs.leave('App');
  const wanted = jobs.join(KEY, 'App', signal, second.run);
  first.end();
  await abandoned;
  t.ok(first.isAborted());
  t.notOk(second.isAborted());
  second.end();
  await wanted;
});

t.test('an installation is aborted with the last process that needs it', async t => {
  const jobs = new InstallJobs();
  const shared = work();
  const leaver = new AbortController();
  const other = jobs.join(KEY, 'App', leaver.signal, shared.run);
  const joined = jobs.join(KEY, 'Twin', new AbortController().signal, shared.run);
  leaver.abort(new Error('stopped'));
  await t.rejects(other, { message: 'stopped' });
  t.notOk(shared.isAborted());
  jobs.leave('Twin');
  t.ok(shared.isAborted());
  shared.end();
  await joined;
});

t.test('a process that waits twice needs the installation until both waits are over', async t => {
  const jobs = new InstallJobs();
  const shared = work();
  const leaver = new AbortController();
  const other = jobs.join(KEY, 'App', leaver.signal, shared.run);
  const waiting = jobs.join(KEY, 'App', new AbortController().signal, shared.run);
  leaver.abort(new Error('stopped'));
  await t.rejects(other, { message: 'stopped' });
  t.notOk(shared.isAborted());
  jobs.leave('App');
  t.ok(shared.isAborted(), 'a user who stops it ends them all');
  shared.end();
  await waiting;
});
