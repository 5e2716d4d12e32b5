// The dependency of an rclone mount on InfiniDysk, also under its former name.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('service-rclone', 'dependency.signal', { key: 'rclone_provider_nzbdav' }),
  [
    {
      name: 'by kind',
      config: {
        rclone: { instances: { A: block('R', { key_type: ' InfiniDysk ' }), B: block('Q', { key_type: 'nzbdav' }) } },
        infinidysk: block('I'),
      },
      finds: ['I -> R', 'I -> Q'],
    },
    {
      name: 'of another kind',
      config: { rclone: { instances: { A: block('R', { key_type: 'usenet' }) } }, infinidysk: block('I') },
      finds: [],
    },
  ],
);
