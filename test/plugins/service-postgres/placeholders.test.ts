// What services find in their texts of the server and of their own databases.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { NamedBlock } from '../../../core/contract/config.ts';
import type { LaunchPlaceholders } from '../../../plugins/process/contract.ts';
import { pluginsDir } from '../../support/host.ts';
import { templatesOf } from '../../support/templates.ts';

const skip = !existsSync(path.join(pluginsDir, 'service-postgres'));

t.test('the server and the databases of each instance', { skip }, async t => {
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
  t.match(valuesOf('sonarr', 'Default', { postgres_main_db: 'mine', postgres_log_db: '' }), {
    postgres_main_db: 'mine',
    postgres_log_db: 'sonarr-log',
  });
  t.match(valuesOf('authelia', 'authelia'), { postgres_database: 'authelia', postgres_main_db: undefined });
  t.match(valuesOf('mine', 'mine'), { postgres_host: '127.0.0.1', postgres_database: undefined });
});
