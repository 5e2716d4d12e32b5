// A readiness by a line of output finds a line that was printed before the launch was announced.
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

/** A plugin that delays the host after a launch until the line is in the log, as a busy boot does. */
const HOLDS = `import { readFileSync } from 'node:fs'
const isSaid = file => { try { return readFileSync(file, 'utf8').includes('Server listens') } catch { return false } }
export default { name: 'holds', host: '^1', setup (host) {
  host.tap('process.launched', ({ block }) => {
    const end = performance.now() + 20_000
    while (!isSaid(host.paths.logDir + '/' + block.log_file) && performance.now() < end);
  }, { stage: -100 })
} }`;

t.test('a line that is printed at once is found', async t => {
  const base = testDir(t, { config: {}, own: { holds: { 'index.js': HOLDS } } });
  const app = await startHost({
    configDir: path.join(base, 'config'),
    pluginDirs: [pluginsDir, path.join(base, 'own')],
    plugins: ['process', 'health-probe', 'readiness', 'holds'],
    config: {
      said: {
        enabled: false,
        process_name: 'Said',
        command: ['sh', '-c', 'echo Server listens; exec sleep 600'],
        log_file: 'said.log',
        suppress_logging: true,
        readiness: { log: 'Server listens', interval_seconds: 0.1 },
      },
    },
  });
  t.teardown(() => app.stop());
  for (const what of ['the first start', 'one with the line of the last in its log']) {
    t.match(await start(app, 'Said'), { status: 200 });
    await until(async () => (await status(app, 'Said')).health_status === 'healthy', { what });
    await app.post('/process/stop-service', { process_name: 'Said' });
  }
});
