// Services that core_service and core_services name.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-core-service-fields', 'dependency.signal'),
  [
    {
      name: 'a text',
      config: { sonarr: { instances: { A: block('S', { core_service: 'decypharr' }) } }, decypharr: block('D') },
      finds: ['D -> S'],
    },
    {
      name: 'a list of both keys',
      config: {
        radarr: { instances: { A: block('R', { core_service: ' Decypharr , nzbdav', core_services: ['altmount'] }) } },
        decypharr: block('D'),
        infinidysk: block('I'),
        altmount: block('A'),
      },
      finds: ['D -> R', 'I -> R', 'A -> R'],
    },
    {
      name: 'a component is needed by the service it names',
      config: {
        rclone: { instances: { A: block('R', { core_service: 'riven_backend' }) } },
        riven_backend: block('Riven'),
      },
      finds: ['R -> Riven'],
    },
    {
      name: 'unless that does without it',
      config: {
        rclone: { instances: { A: block('R', { core_service: 'decypharr' }) } },
        decypharr: block('D', { mount_type: 'dfs' }),
      },
      finds: ['D -> R'],
    },
    {
      name: 'itself',
      config: { sonarr: { instances: { A: block('S1', { core_service: 'sonarr' }), B: block('S2') } } },
      finds: [],
    },
    { name: 'nobody', config: { sonarr: { instances: { A: block('S', { core_service: 'nobody' }) } } }, finds: [] },
    {
      name: 'blank',
      config: { sonarr: { instances: { A: block('S', { core_service: ' , ' }) } }, decypharr: block('D') },
      finds: [],
    },
  ],
);
