// Placeholders for the server and for the databases of a service.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import type { NamedBlock } from '../../../core/contract/config.ts';
import type { LaunchPlaceholders } from '../../../plugins/process/contract.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { templatesOf } from '../../support/templates.ts';

const skip = !existsSync(path.join(pluginsDir, 'service-postgres'));

t.test('placeholders give the server and the databases of each instance', { skip }, async t => {
  const { placeholdersOf } = await import(path.join(pluginsDir, 'service-postgres', 'placeholders.ts'));
  const templates = await templatesOf();
  const server = { host: '0.0.0.0', port: 5_433, user: 'keeper', password: 'hunter2' };
  const store = { get: (name: string) => (name === 'postgres' ? server : undefined) };
  const valuesOf = (configKey: string, key: string, block: object = {}): ReturnType<LaunchPlaceholders['values']> => {
    const named: NamedBlock = {
      processName: key,
      path: [configKey, key],
      configKey,
      key,
      isHost: false,
      block: { ...block },
    };
    return placeholdersOf(named, templates.get(configKey), store);
  };
  t.match(valuesOf('sonarr', 'Default'), {
    postgres_host: '127.0.0.1',
    postgres_port: 5_433,
    postgres_user: 'keeper',
    postgres_password: 'hunter2',
    postgres_main_db: 'sonarr-main',
    postgres_log_db: 'sonarr-log',
  });
  t.match(valuesOf('sonarr', 'Four K'), {
    postgres_main_db: 'sonarr_four_k_main',
    postgres_log_db: 'sonarr_four_k_log',
  });
  t.match(valuesOf('sonarr', 'A $& $$'), { postgres_main_db: 'sonarr_a_$&_$$_main' });
  t.match(valuesOf('sonarr', 'Default', { postgres_main_db: 'mine', postgres_log_db: '' }), {
    postgres_main_db: 'mine',
    postgres_log_db: 'sonarr-log',
  });
  t.match(valuesOf('authelia', 'authelia'), { postgres_database: 'authelia', postgres_main_db: undefined });
  for (const [host, reached] of [
    ['*', '127.0.0.1'],
    ['::', '127.0.0.1'],
    ['[::1]', '::1'],
    ['db.example.org, 192.0.2.1', 'db.example.org'],
  ] as const) {
    Object.assign(server, { host });
    t.equal(valuesOf('mine', 'mine').postgres_host, reached, host);
  }
  Object.assign(server, { host: '0.0.0.0' });
  t.match(valuesOf('mine', 'mine'), { postgres_host: '127.0.0.1', postgres_database: undefined });
});

t.test('a service waits for the managed server, or for its own', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const server = createServer(socket => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const own = [{ name: 'PostgreSQL', host: '127.0.0.1', port: await freePort(), timeout: 2 }];
  const block = { config_dir: dir, log_file: path.join(dir, 'own.log'), command: ['sleep', '600'] };
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-postgres'],
    config: {
      postgres: { port, host: '0.0.0.0' },
      zilean: { ...block, process_name: 'Index', port: await freePort(), wait_timeout_seconds: 4 },
      mediastorm: { ...block, process_name: 'Own', port: await freePort(), wait_timeout_seconds: 1, wait_for_tcp: own },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Index');
  t.equal(answer.status, 200, answer.text);
  t.match(await start(app, 'Own'), { status: 500, body: { detail: /PostgreSQL/ } });
});
