// A database that only the service's own file names: it is found, and found again after a change of the file.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { edgesOf, startGraph } from '../../support/graph.ts';
import { pluginsDir } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const skip = ['dependency-graph', 'process', 'format-xml'].some(name => !existsSync(`${pluginsDir}/${name}`));

const settings = (values: Record<string, string>): string =>
  `<Config>${Object.entries(values)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('')}</Config>`;

t.test('databases in config.xml are dependencies', { skip }, async t => {
  const dir = testDir(t, { 'config.xml': settings({ Port: '8989', PostgresHost: 'db', PostgresMainDb: 'main' }) });
  const file = path.join(dir, 'config.xml');
  const byHand = path.join(dir, 'by-hand.xml');
  const sonarr = (name: string, more: object) => ({
    enabled: true,
    process_name: name,
    config_dir: dir,
    command: ['sleep', '600'],
    ...more,
  });
  const { app, of } = await startGraph(t, {
    postgres: { enabled: false, process_name: 'PostgreSQL' },
    sonarr: {
      instances: {
        a: sonarr('Sonarr A', { config_file: file }),
        b: sonarr('Sonarr B', { config_file: path.join(dir, 'none.xml') }),
        c: sonarr('Sonarr C', { config_file: byHand, enabled: false }),
      },
    },
  });
  const users = async () => edgesOf(await of('PostgreSQL')).filter(edge => edge.includes('Sonarr'));
  t.same(await users(), [], 'two of three names are none');
  await until(async () => {
    const { body } = await app.get('/process/service-status?process_name=Sonarr+A');
    return body.status === 'running';
  });

  await writeFile(file, settings({ PostgresHost: 'db', PostgresMainDb: 'main', PostgresLogDb: 'log' }));
  t.equal((await app.post('/process/restart-service', { process_name: 'Sonarr A' })).status, 200);
  await until(async () => (await users()).length > 0, { what: 'the new file to count' });
  t.same(await users(), ['PostgreSQL -> Sonarr A: conditional_startup_map'], 'for this instance only');

  await writeFile(file, '<!DOCTYPE a [<!ENTITY e "x">]><Config><PostgresHost>&e;</PostgresHost></Config>');
  await app.post('/process/restart-service', { process_name: 'Sonarr A' });
  await until(async () => (await users()).length === 0, { what: 'an unreadable file to count as none' });

  await app.post('/process/start-service', { process_name: 'Sonarr C' });
  t.same(await users(), []);
  await writeFile(byHand, settings({ PostgresHost: 'db', PostgresMainDb: 'main', PostgresLogDb: 'log' }));
  await app.post('/process/restart-service', { process_name: 'Sonarr C' });
  await until(async () => (await users()).some(edge => edge.includes('Sonarr C')), { what: 'one started by hand' });
});
