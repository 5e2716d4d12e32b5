// The example stack as newcomers start it, also when a port of it is taken.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { freePort, startStackwarden } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('start --example runs the example in an empty directory', { timeout: 240_000 }, async t => {
  const taken = createServer();
  // The port must be taken, by this test or by another program.
  await new Promise<void>(resolve => taken.once('error', () => resolve()).listen(8_081, '127.0.0.1', resolve));
  // Other clients that look for an example at this port are disconnected.
  taken.on('connection', socket => socket.destroy());
  t.teardown(() => taken.close());
  const configDir = testDir(t, {});
  const port = await freePort();
  const running = await startStackwarden(configDir, port, {
    args: ['start', '--example'],
    env: { DUMB_API_SERVICE_PORT: String(port), DUMB_GATEWAY_PORT: String(await freePort()) },
  });
  t.teardown(() => running.child.kill('SIGKILL'));
  const config = JSON.parse(await readFile(path.join(configDir, 'stackwarden.json'), 'utf8'));
  t.not(config.example_web.port, 8_081);
  t.equal(config.example_worker.wait_for_url[0].url, `http://127.0.0.1:${config.example_web.port}/health`);
  const answer = async (route: string) =>
    (await fetch(running.base + route)).json() as Promise<Record<string, unknown>>;
  await until(async () => (await answer('/process/startup-status')).phase === 'ready', { timeoutMs: 180_000 });
  const log = await until(async () => {
    const { chunk } = (await answer('/logs?process_name=Example%20Worker')) as { chunk: string };
    return /item 2 done/.test(chunk) ? chunk : null;
  });
  t.match(log, /the web service answers, so the work begins/);
  t.match(await answer('/health'), { status: 'healthy', phase: 'ready' });
  running.child.kill('SIGINT');
  t.equal((await running.exited).code, 0);
});
