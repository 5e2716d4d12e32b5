// The dependency of an rclone mount on Decypharr.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('service-rclone', 'dependency.signal', { key: 'rclone_provider_decypharr' }),
  [
    {
      name: 'switched on',
      config: { rclone: { instances: { A: block('R', { decypharr_enabled: true }) } }, decypharr: block('D') },
      finds: ['D -> R'],
    },
    {
      name: 'switched off',
      config: { rclone: { instances: { A: block('R', { decypharr_enabled: false }) } }, decypharr: block('D') },
      finds: [],
    },
    {
      name: 'no such service',
      config: { rclone: { instances: { A: block('R', { decypharr_enabled: true }) } } },
      finds: [],
    },
  ],
);
