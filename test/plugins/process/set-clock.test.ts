// The system clock is set while services run, as after the start of a machine without a clock: start times follow the
// new time, also those of adopted services.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { kid, lives, pidOf } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const DAY_S = 86_400;
/** A test starts its services and reads their times within this time. */
const LATELY_S = 120;
const PLUGINS = ['config', 'process', 'prometheus'];
const { now } = Date;

/** For the host, which runs in this process. */
function setClock(aheadS: number): void {
  Date.now = () => now() + aheadS * 1_000;
}

async function boot(t: Test, configDir: string, config?: Record<string, unknown>): Promise<TestHost> {
  const app = await startHost({ configDir, plugins: PLUGINS, ...(config === undefined ? {} : { config }) });
  t.teardown(() => app.stop());
  await until(async () => (await startedAt(app)) !== null, { what: 'the service to run' });
  return app;
}

async function startedAt(app: TestHost): Promise<number | null> {
  const [service] = (await app.get('/process/service-statuses')).body.processes;
  return service.status === 'running' ? service.started_at : null;
}

async function told(app: TestHost) {
  const { text } = await app.get('/metrics/prometheus');
  return {
    uptimeS: Date.now() / 1_000 - ((await startedAt(app)) ?? Number.NaN),
    exportedUptimeS: Number(/^stackwarden_process_uptime_seconds\{process="Kid"\} (\S+)$/m.exec(text)?.[1]),
    bootedS: Date.now() / 1_000 - (await app.get('/process/startup-status')).body.started_at,
  };
}

const isLately = (seconds: number): boolean => seconds > -1 && seconds < LATELY_S;

t.test('start times move with the clock', async t => {
  t.teardown(() => {
    Date.now = now;
  });
  const app = await boot(t, testDir(t, {}), { kid: kid('Kid', ['calm'], { enabled: true }) });
  const first = await startedAt(app);
  t.equal(await startedAt(app), first);
  for (const aheadS of [7_000 * DAY_S, -7_000 * DAY_S, 0]) {
    setClock(aheadS);
    const { uptimeS, exportedUptimeS, bootedS } = await told(app);
    t.ok([uptimeS, exportedUptimeS, bootedS].every(isLately), `${aheadS}: ${uptimeS} ${exportedUptimeS} ${bootedS}`);
    t.equal(await startedAt(app), await startedAt(app), 'the same each time');
  }
});

t.test('the start time of an adopted process is that of the kernel', async t => {
  t.teardown(() => {
    Date.now = now;
  });
  const configDir = testDir(t, {});
  const config = { dumb: { shutdown: { keep_services: true } }, kid: kid('Kid', ['calm'], { enabled: true }) };
  setClock(-7_000 * DAY_S);
  const first = await boot(t, configDir, config);
  const pid = await pidOf(first, 'Kid');
  t.teardown(() => lives(pid) && process.kill(pid, 'SIGKILL'));
  await first.stop();
  t.ok(lives(pid));
  const file = path.join(configDir, 'stackwarden.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace('"keep_services": true', '"keep_services": false'));
  setClock(0);
  const second = await boot(t, configDir);
  t.equal(await pidOf(second, 'Kid'), pid, 'adopted');
  const { uptimeS, exportedUptimeS } = await told(second);
  t.ok(isLately(uptimeS) && isLately(exportedUptimeS), `${uptimeS} ${exportedUptimeS}`);
});
