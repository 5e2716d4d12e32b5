// An rclone mount of Decypharr.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-rclone-provider-decypharr', 'dependency.signal'),
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
