// Readiness and liveness in blocks: by HTTP, a port, a command or a line of output, and their effects.
import { chmod, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, start, status } from '../../support/kids.ts';
import { processesWith } from '../../support/marked-processes.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const block = (processName: string, script: string, more: object) => ({
  enabled: false,
  process_name: processName,
  command: ['sh', '-c', script],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

t.test('readiness and liveness', async t => {
  const base = testDir(t, { config: {}, open: {} });
  const dir = path.join(base, 'open');
  await chmod(dir, 0o777);
  const file = (name: string) => path.join(dir, name);
  let code = 503;
  const server = createServer((_request, response) => response.writeHead(code).end()).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const quick = { interval_seconds: 0.1, failure_threshold: 2 };
  const configDir = path.join(base, 'config');
  const plugins = ['config', 'process', 'health-probe', 'readiness', 'auto-restart'];
  const app = await startHost({
    configDir,
    plugins,
    config: {
      dumb: {
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
        auto_restart: { backoff_seconds: [0] },
      },
      command: block('Command', 'sleep 600', {
        env: { WHERE: dir },
        readiness: { ...quick, exec: `[ "$(id -u)" != 0 ] && [ -e "$WHERE/ready" ]` },
      }),
      web: block('Web', 'sleep 600', { readiness: { ...quick, http: { path: '/ready', port } } }),
      listener: block('Listener', 'sleep 600', { readiness: { ...quick, tcp: { port } } }),
      said: block('Said', `until [ -e ${file('say')} ]; do sleep 0.05; done; echo now Server listens, yes; sleep 600`, {
        readiness: { ...quick, log: 'Server listens' },
      }),
      alive: block('Alive', `rm -f ${file('dead')}; sleep 600`, {
        liveness: { ...quick, exec: ['test', '!', '-e', file('dead')] },
      }),
      slow: block('Slow', 'sleep 600', {
        env: { PROBE_MARK: dir },
        readiness: { ...quick, timeout_seconds: 0.2, exec: 'sleep 599 & sleep 599' },
      }),
      eager: block('Eager', 'sleep 600', {
        env: { WHERE: dir },
        readiness: { interval_seconds: 86_400, exec: '[ -e "$WHERE/eager" ]' },
      }),
      both: block('Both', 'sleep 600', { readiness: { http: { path: '/' }, exec: 'true' } }),
    },
  });
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const health = async (name: string, host = app) => (await status(host, name)).health_status;
  const becomes = (name: string, word: string) =>
    until(async () => (await health(name)) === word, { what: `${name} to be ${word}` });

  t.match((await app.get('/process?process_name=Both')).body.config_problem, /exactly one way/);
  for (const name of ['Command', 'Web', 'Listener', 'Said', 'Alive', 'Slow'])
    t.match(await start(app, name), { status: 200 });
  await becomes('Listener', 'healthy');
  await until(async () => /\/ready answers 503/.test((await status(app, 'Web')).health_reason));
  for (const name of ['Command', 'Web', 'Said', 'Slow']) t.equal(await health(name), 'starting', name);
  t.match(await status(app, 'Said'), { health_reason: 'the text of its log has not come yet' });

  code = 204;
  await writeFile(file('ready'), '');
  await writeFile(file('say'), '');
  for (const name of ['Command', 'Web', 'Said']) await becomes(name, 'healthy');
  t.match(await start(app, 'Eager'), { status: 200 });
  await until(async () => /exit code 1/.test((await status(app, 'Eager')).health_reason));
  await writeFile(file('eager'), '');
  await becomes('Eager', 'healthy');
  await rm(file('ready'));
  await becomes('Command', 'unhealthy');
  t.match(await status(app, 'Command'), { health_reason: 'its command ended with exit code 1', status: 'running' });
  const logged = (line: string) =>
    until(async () => (await ownLog(app)).some(one => one.includes(line)), { what: line });
  await logged('Command is not ready any more: its command ended with exit code 1');

  const before = await pidOf(app, 'Alive');
  await writeFile(file('dead'), '');
  await until(async () => (await pidOf(app, 'Alive')) !== before, { what: 'the restart' });
  await logged('Alive is restarted, attempt 1 of 3: its liveness failed: its command ended with exit code 1');
  t.match(await status(app, 'Slow'), { health_reason: 'its command took longer than 0.2 s' });

  await app.post('/config', { process_name: 'Command', updates: { readiness: { ...quick, exec: 'true' } } });
  await becomes('Command', 'healthy');
  const update = (updates: object) => app.post('/config', { process_name: 'Eager', updates });
  await update({ readiness: { ...quick, exec: 'exit 3' } });
  await becomes('Eager', 'unhealthy');
  t.match(await status(app, 'Eager'), { health_reason: 'its command ended with exit code 3' });
  await update({ liveness: { exec: 'true', initial_delay_seconds: 86_400 } });
  await update({ liveness: { ...quick, exec: 'exit 4' } });
  await logged('Eager is restarted, attempt 1 of 3: its liveness failed: its command ended with exit code 4');
  await app.post('/config', { process_name: 'Slow', updates: { readiness: null } });
  await becomes('Slow', 'healthy');
  await until(async () => (await processesWith(`PROBE_MARK=${dir}`)).length <= 2, { what: 'the end of commands' });
  await app.host.stop('fault');

  const next = await startHost({ configDir, plugins });
  t.teardown(() => next.stop());
  await until(async () => (await health('Said', next)) === 'healthy', { what: 'what was said before counts' });
});

t.test('the reason has no secret of the address', async t => {
  const server = createServer((_request, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const readiness = { interval_seconds: 0.1, http: { path: '/well?apikey=hunter2&full=1', port } };
  const app = await startHost({
    plugins: ['config', 'process', 'health-probe', 'readiness'],
    config: { asked: block('Asked', 'sleep 600', { readiness }) },
  });
  t.teardown(() => app.stop());
  await start(app, 'Asked');
  const reason = await until(async () => {
    const { health_reason: told } = await status(app, 'Asked');
    return String(told).includes('answers') && told;
  });
  t.equal(reason, '/well?apikey=[REDACTED]&full=1 answers 503');
});
