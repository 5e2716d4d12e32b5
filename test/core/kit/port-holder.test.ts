// Who listens on a port is named by its program, also when Node has named the process after its main thread.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import t from 'tap';
import { findPortHolder, mayListen } from '../../../core/kit/port-holder.ts';

for (const [title, program] of [
  ['MainThread', path.basename(process.execPath)],
  ['node-MainThread', path.basename(process.execPath)],
  ['radarr', 'radarr'],
] as const) {
  t.test(`the holder of a port is named by its program when its process is called ${title}`, async t => {
    const source = `process.title = '${title}';
      const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port));`;
    const child = spawn(process.execPath, ['--eval', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => child.kill());
    const [port] = await once(child.stdout, 'data');
    t.equal(await findPortHolder(Number(port)), `${program} (pid ${child.pid})`);
  });
}

// The parent listens and hands its socket to a child, which keeps it when the parent has ended.
const HANDED = `
  const { spawn } = require('node:child_process');
  const server = require('node:net').createServer().listen(0, '127.0.0.1', () => {
    const { fd } = server._handle;
    const child = spawn('sleep', ['infinity'], { stdio: ['ignore', 'ignore', 'ignore', fd], detached: true });
    console.log(JSON.stringify([server.address().port, child.pid]));
  });`;

t.test('a holder that hands its socket to another process and ends is not named any more', async t => {
  const parent = spawn(process.execPath, ['--eval', HANDED], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => parent.kill('SIGKILL'));
  const [line] = await once(parent.stdout, 'data');
  const [port, pid] = JSON.parse(String(line)) as [number, number];
  t.teardown(() => process.kill(pid, 'SIGKILL'));
  const first = await findPortHolder(port);
  t.match(first, /\(pid \d+\)$/);
  t.equal(await findPortHolder(port), first, 'the same when it is asked for again');
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  t.equal(await findPortHolder(port), `sleep (pid ${pid})`);
});

t.test('a process may listen on a port when it has a socket that does', async t => {
  const child = spawn(process.execPath, ['--eval', HANDED], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const [port, heir] = JSON.parse(String(line)) as [number, number];
  t.teardown(() => process.kill(heir, 'SIGKILL'));
  t.equal(await mayListen([process.pid, child.pid ?? 0], port), true);
  t.equal(await mayListen([heir], port), true);
  t.equal(await mayListen([process.pid], port), false);
  t.equal(await mayListen([], port), false);
});
