// What a request wants is saved, also where the configuration has it in memory alone until then.
import { chownSync, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const skip = !existsSync(new URL('../../../plugins/wizard/index.ts', import.meta.url));

t.test('what was in memory alone is saved', { skip }, async t => {
  const dir = testDir(t, {});
  if (process.getuid?.() === 0) chownSync(dir, 65_534, 65_534);
  const idle = (name: string) => ({
    enabled: false,
    process_name: `Sonarr ${name}`,
    command: ['sleep', '600'],
    config_dir: dir,
    config_file: path.join(dir, `${name}.xml`),
  });
  const app = await startHost({
    plugins: 'services',
    config: {
      puid: 65_534,
      sonarr: { instances: { Named: idle('Named'), Unnamed: idle('Unnamed') } },
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal, { timeoutMs: 60_000 });
  const text = () => readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8');
  const instances = async () => JSON.parse(await text()).sonarr.instances;
  const inMemory = (name: string, updates: object) => app.post('/config', { process_name: `Sonarr ${name}`, updates });
  const begin = (core: object) => app.post('/process/start-core-service', { core_services: core });

  t.equal((await inMemory('Named', { enabled: true, port: 8_990 })).status, 200);
  t.match((await instances()).Named, { enabled: false, port: undefined });
  const named = await begin({ name: 'sonarr', instance_name: 'Named', service_options: { sonarr: { port: 8_990 } } });
  t.match(named.body.results, [{ status: 'started' }], named.text);
  t.match((await instances()).Named, { enabled: true, port: 8_990 });

  await inMemory('Named', { enabled: false });
  t.equal((await inMemory('Unnamed', { enabled: true })).status, 200);
  const unnamed = await begin({ name: 'sonarr' });
  t.match(unnamed.body.results, [{ status: 'started' }], unnamed.text);
  t.match((await instances()).Unnamed, { enabled: true });

  const before = await text();
  t.match((await begin({ name: 'sonarr' })).body, { results: [Object], overridden: [], warnings: [] });
  t.equal(await text(), before, 'what the file has is not written again');
});
