// The probe for databases on a PostgreSQL server. In enhanced mode it asks the server for its counters.
import path from 'node:path';
import { definePlugin, type NamedBlock } from '#core';
import { contributedValues } from '#kit/contributed-values';
import { isObject } from '#kit/plain-object';
import type { DatabaseFacts, StorageFacts } from '../database-health/contract.ts';
import type {} from '../process/contract.ts';
import { addressOf, isLocal } from './address.ts';
import { ServerFacts, type Wanted } from './server-facts.ts';

const ENGINE = 'postgres';
const KEY = 'postgres';
/** A file that every data directory has. */
const CLUSTER_FILE = 'PG_VERSION';
const STANDARD = 'Only the enhanced mode asks the server for its databases';

export default definePlugin({
  name: 'database-postgres',
  host: '^1',
  needs: ['database-health'],

  setup(host) {
    const facts = new ServerFacts();
    /** The file system of the managed server's databases; undefined when the service uses another server. */
    const storageOf = async (service: NamedBlock, wanted: readonly Wanted[]): Promise<StorageFacts | undefined> => {
      const { config_dir: directory, port } = (host.use('config.store').get(KEY) ?? {}) as Record<string, unknown>;
      const isManaged = wanted.every(({ address }) => isLocal(address) && address.port === Number(port));
      const files = host.contributions('database.probe').get('append-log')?.value;
      if (!isManaged || typeof directory !== 'string' || files === undefined) return undefined;
      const stores = [{ role: 'cluster', files: [path.join(directory, CLUSTER_FILE)] }];
      return (await files.probe({ service, stores, mode: 'standard' }))[0]?.storage;
    };

    host.contribute('database.probe', ENGINE, {
      provider: 'postgresql',
      blindIn: ['standard'],
      async probe({ service, stores, mode }) {
        const values = contributedValues(host.contributions('process.placeholders'), service);
        const wanted = stores.map(store => ({ role: store.role, address: addressOf(store, service.block, values) }));
        const [storage, found] = await Promise.all([
          storageOf(service, wanted),
          mode === 'enhanced' ? facts.read(service.processName, wanted) : wanted.map(seenFromOutside),
        ]);
        return found.map(database => (storage === undefined ? database : { ...database, storage }));
      },
    });

    host.contribute('database.stores', KEY, {
      configKey: KEY,
      async stores({ block }) {
        const listed = (Array.isArray(block.databases) ? block.databases : []).filter(isObject);
        const names = listed.flatMap(({ name, enabled }) =>
          typeof name === 'string' && name !== '' && enabled !== false ? [name] : [],
        );
        const wanted = names.length === 0 ? ['postgres'] : names;
        return wanted.map(database => ({ engine: ENGINE, role: 'cluster database', connection: { database } }));
      },
    });
  },
});

function seenFromOutside({ role, address }: Wanted): DatabaseFacts {
  return { role, name: address.database, exists: null, enhancedProbe: false, notice: STANDARD };
}
