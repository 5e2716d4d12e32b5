// What a service needs because of its kind.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-non-core-dependency-map', 'dependency.signal'),
  [
    {
      name: 'a frontend its backend, an index its database, a tunnel its proxy',
      config: {
        riven_frontend: block('F'),
        riven_backend: block('B'),
        zilean: block('Z'),
        postgres: block('PG'),
        cloudflared: block('C'),
      },
      finds: ['B -> F', 'PG -> Z', '? traefik -> C'],
    },
    {
      name: 'a core service',
      config: { sonarr: { instances: { A: block('S', { postgres_enabled: true }) } }, postgres: block('PG') },
      finds: [],
    },
  ],
);
