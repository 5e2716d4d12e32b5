// The dependency of an rclone instance on the zurg that it mounts.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('service-rclone', 'dependency.signal', { key: 'rclone_provider_zurg' }),
  [
    {
      name: 'by its file',
      config: {
        rclone: { instances: { A: block('R', { zurg_enabled: true, zurg_config_file: '/z/a' }) } },
        zurg: { instances: { A: block('ZA', { config_file: '/z/a' }), B: block('ZB', { config_file: '/z/b' }) } },
      },
      finds: ['ZA -> R'],
    },
    {
      name: 'by the core service',
      config: {
        rclone: { instances: { A: block('R', { zurg_enabled: true, core_service: 'riven_backend' }) } },
        zurg: {
          instances: {
            A: block('ZA', { core_service: 'riven_backend' }),
            B: block('ZB', { core_service: 'cli_debrid' }),
          },
        },
      },
      finds: ['ZA -> R'],
    },
    {
      name: 'by the provider',
      config: {
        rclone: { instances: { A: block('R', { zurg_enabled: true, key_type: 'RealDebrid' }) } },
        zurg: { instances: { A: block('ZA', { key_type: 'realdebrid' }), B: block('ZB', { key_type: 'other' }) } },
      },
      finds: ['ZA -> R'],
    },
    {
      name: 'all, of one that belongs to nobody',
      config: {
        rclone: { instances: { A: block('R', { zurg_enabled: true }) } },
        zurg: { instances: { A: block('ZA'), B: block('ZB') } },
      },
      finds: ['ZA -> R', 'ZB -> R'],
    },
    {
      name: 'switched off',
      config: {
        rclone: { instances: { A: block('R', { zurg_enabled: 'true' }) } },
        zurg: { instances: { A: block('ZA') } },
      },
      finds: [],
    },
  ],
);
