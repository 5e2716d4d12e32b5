// Components that a kind of core service always needs.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-core-service-map', 'dependency.signal'),
  [
    {
      name: 'attached components only',
      config: {
        riven_backend: block('Riven'),
        postgres: block('PG'),
        zurg: {
          instances: {
            A: block('Zurg A', { core_service: 'riven_backend' }),
            B: block('Zurg B', { core_service: 'cli_debrid' }),
          },
        },
      },
      finds: ['Zurg A -> Riven', '? rclone -> Riven', 'PG -> Riven'],
    },
    {
      name: 'built from a branch',
      config: { riven_backend: block('Riven', { branch_enabled: true }) },
      finds: ['? postgres -> Riven'],
    },
    {
      name: 'built from a commit',
      config: { riven_backend: block('Riven', { commit_sha: 'a'.repeat(40) }) },
      finds: ['? postgres -> Riven'],
    },
    {
      name: 'a mount of its own',
      config: {
        decypharr: block('D', { mount_type: 'dfs' }),
        rclone: { instances: { A: block('R', { core_service: 'decypharr' }) } },
      },
      finds: [],
    },
    {
      name: 'a mount by rclone',
      config: {
        decypharr: block('D', { mount_type: 'external_rclone' }),
        rclone: { instances: { A: block('R', { core_service: 'decypharr' }) } },
      },
      finds: ['R -> D'],
    },
    {
      name: 'under a former name',
      config: { infinidysk: block('I'), rclone: { instances: { A: block('R', { core_service: 'nzbdav' }) } } },
      finds: ['R -> I'],
    },
    { name: 'a service of one’s own', config: { mine: block('Mine'), postgres: block('PG') }, finds: [] },
  ],
);
