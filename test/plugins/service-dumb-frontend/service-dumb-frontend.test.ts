// The managed web frontend: a boot starts it first, and its environment has the addresses that it needs.
import { existsSync } from 'node:fs';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { kid, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const skip = !['service-dumb-frontend', 'service-traefik', 'services'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);
const isRoot = process.getuid?.() === 0;
const instantly = { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } };

t.test('the frontend is started first and gets the addresses of the host', { skip }, async t => {
  const dir = testDir(t, {});
  const file = path.join(dir, 'seen');
  await writeFile(file, '');
  if (isRoot) await chown(file, 65_534, 65_534);
  const app = await startHost({
    plugins: [
      'config',
      'process',
      'health-probe',
      'services',
      'service-dumb-frontend',
      'service-traefik',
      'service-ui',
    ],
    config: {
      dumb: {
        ...instantly,
        api_service: { host: '0.0.0.0', port: 8_123 },
        frontend: {
          enabled: true,
          process_name: 'DUMB Frontend',
          config_dir: tmpdir(),
          command: ['sh', '-c', `env > ${file}; exec sleep 1000`],
          env: { DMB_TRAEFIK_URL: 'http://proxy' },
        },
      },
      other: kid('Other', ['calm'], { enabled: true }),
      consumer: kid('Consumer', ['calm'], { enabled: true, wait_for_dir: path.join(dir, 'provided') }),
      provider: kid('Provider', ['calm'], { enabled: true, core_service: 'consumer' }),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Provider')).status === 'running', { what: 'one behind a long wait' });
  const seen = await readFile(file, 'utf8');
  for (const line of [
    'DUMB_API_URL=http://127.0.0.1:8123',
    'DMB_API_URL=http://127.0.0.1:8123',
    'DUMB_TRAEFIK_URL=http://127.0.0.1:18080',
    'DMB_TRAEFIK_URL=http://proxy',
    'PORT=3005',
  ]) {
    t.ok(seen.split('\n').includes(line), line);
  }
  const runs = async (): Promise<string[]> =>
    (await app.get('/process/processes')).body.processes
      .filter((entry: { status: string }) => entry.status === 'running')
      .map((entry: { process_name: string }) => entry.process_name);
  await until(async () => (await runs()).includes('Other'));
  t.same((await runs()).sort(), ['DUMB API', 'DUMB Frontend', 'Other', 'Provider']);
});
