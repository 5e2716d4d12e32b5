// R40: a host starts with values that do not fit, runs what they do not concern, and names each with its remedy.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { entryOf, isRunning, openWith, sleeper, type Values } from '../support/configured.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { until } from '../support/until.ts';

t.test('a host starts with bad values, runs what they do not concern, and names each of them', async t => {
  const configDir = testDir(t, {
    'stackwarden.yaml': `puid: 65534
pgid: 65534
dumb:
  log_dir: ${JSON.stringify(path.join(testDir(t, {}), 'log'))}
  log_level: 7
  gateway: { enabled: off, port: none }
  startup: { stabilization_seconds: 0, readiness_timeout_seconds: soon }
good:
  enabled: Yes
  process_name: Good
  command: [sleep, '1000']
quiet:
  enabled: on
  process_name: Quiet
  command: [sleep, '1000']
  suppress_logging: No
  log_level: 5
bad:
  enabled: true
  process_name: Bad
  command: [sleep, '1000']
  port: none
`,
  });
  const before = await readFile(path.join(configDir, 'stackwarden.yaml'), 'utf8');
  const app = await startHost({ plugins: ['config', 'process', 'health', 'gateway', 'logs'], configDir });
  t.teardown(() => app.stop());
  await until(async () => (await isRunning(app, 'Good')) && (await isRunning(app, 'Quiet')));

  const bad = await entryOf(app, 'Bad');
  t.match(bad, {
    enabled: false,
    status: 'stopped',
    config: { enabled: true },
    config_problem: /^bad\.port: .*Bad is disabled/,
  });
  t.match(await entryOf(app, 'Good'), {
    config_problem: /^good\.enabled: the text 'Yes' counts as a boolean; write true/,
  });
  t.match((await app.get('/process?process_name=Bad')).body, {
    config_problem: bad.config_problem,
    warning: /bad\.port/,
  });
  t.equal((await app.get('/config?process_name=Quiet')).body.suppress_logging, false);
  const health = (await app.get('/health')).body;
  t.match(health, { status: 'healthy', details: /values that do not fit \(.*dumb\.log_level/ });
  const { chunk } = (await app.get('/logs?process_name=DUMB')).body;
  const places = [
    'dumb.log_level',
    'dumb.gateway.enabled',
    'dumb.gateway.port',
    'dumb.startup.readiness_timeout_seconds',
    'good.enabled',
    'quiet.enabled',
    'quiet.suppress_logging',
    'quiet.log_level',
    'bad.port',
  ];
  for (const place of places)
    t.equal(chunk.split(`] ${place}: `).length + chunk.split(` ${place}: `).length - 2, 1, `${place} is told once`);
  const { problems } = await app.host.reviewConfig();
  for (const place of places)
    t.equal(problems.filter(line => line.startsWith(`${place}: `)).length, 1, `check: ${place}`);

  const save = await app.post('/config', { updates: { tz: 'UTC' } });
  t.match(save, { status: 200, body: { changed: ['tz'] } });
  t.equal(await readFile(path.join(configDir, 'stackwarden.yaml'), 'utf8'), `${before}tz: UTC\n`);
  t.match(await app.post('/config', { process_name: 'Bad', updates: { port: 'other' } }), {
    status: 400,
    body: { detail: /bad\.port/ },
  });
  t.match(await app.post('/config', { updates: { good: { enabled: 'yes please' } } }), { status: 400 });
  const start = () => app.post('/process/start-service', { process_name: 'Bad' });
  const refused = {
    status: 409,
    body: { detail: /^Bad was not started: bad\.port: .*until it is mended in stackwarden/ },
  };
  t.match(await start(), refused, 'nor does a start by hand run what does not fit');
  const whole = { ...(bad.config as Values), port: 7_001 };
  t.equal((await app.post('/config', { process_name: 'Bad', updates: whole, persist: true })).status, 200);
  t.match(await entryOf(app, 'Bad'), { enabled: true, config_problem: null });
  t.equal((await start()).status, 200);
});

t.test('without a usable user no service is started, until the value is mended', async t => {
  const { app, file, good } = await openWith(t, { good: sleeper('Good'), puid: 'root' }, [
    'config',
    'process',
    'health',
  ]);
  await until(async () => (await app.get('/process/startup-status')).body.phase === 'degraded');
  const health = (await app.get('/health')).body;
  t.match(health, { status: 'unhealthy', details: /^puid: .*no service is started until it is mended/ });
  t.equal(health.details.split('no service is started').length, 2, 'said once');
  t.match(await app.post('/process/start-service', { process_name: 'Good' }), {
    status: 503,
    body: { detail: /puid/ },
  });
  t.equal((await app.post('/config', { updates: { tz: 'UTC' } })).status, 200, 'other values are saved');
  t.equal((await app.post('/config', { updates: { puid: 65_534 } })).status, 200);
  await until(() => isRunning(app, 'Good'));
  t.same(JSON.parse(await readFile(file, 'utf8')), { ...good, puid: 65_534, tz: 'UTC' });
});

for (const [text, why] of [
  ['0', 'it must be more than 0'],
  ['media', 'it must be a number, not text'],
] as const)
  t.test(`nor with PUID=${text}`, async t => {
    const configDir = testDir(t, { '.env': `PUID=${text}\n` });
    await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify({ good: sleeper('Good') }));
    const app = await startHost({ plugins: ['config', 'process', 'health'], configDir });
    t.teardown(() => app.stop());
    await until(async () => (await app.get('/process/startup-status')).body.phase === 'degraded');
    t.match((await app.get('/health')).body, {
      status: 'unhealthy',
      details: `puid: ${why}; no service is started until it is mended in the variable PUID, for the next start`,
    });
    t.match(await app.post('/process/start-service', { process_name: 'Good' }), { status: 503 });
    t.equal(
      (await app.post('/config', { updates: { puid: 65_534 } })).status,
      200,
      'what the variable still overrides',
    );
    t.match(await app.post('/process/start-service', { process_name: 'Good' }), { status: 503 });
    const { problems } = await app.host.reviewConfig();
    t.equal(problems.filter(line => line.includes('PUID')).length, 1, 'told once');
    t.equal((await app.post('/config', { updates: { puid: 65_534 }, persist: false })).status, 200);
    await until(() => isRunning(app, 'Good'));
  });
