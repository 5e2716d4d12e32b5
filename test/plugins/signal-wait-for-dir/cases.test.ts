// Dependencies on services that provide awaited directories.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-wait-for-dir', 'dependency.signal'),
  [
    {
      name: 'in a mount',
      config: {
        a: block('A', { wait_for_dir: '/mnt/x/__all__' }),
        b: block('B', { mount_dir: '/mnt', mount_name: 'x' }),
      },
      finds: ['B -> A'],
    },
    {
      name: 'each form',
      config: {
        a: block('A', {
          wait_for_dir: ['/m/1', { path: '/m/2/' }, { directory: '/m/3' }, { value: '/m/4', service: 'named' }],
        }),
        b: block('B', { mount_path: '/m/1' }),
        c: block('C', { mount_path: '/m/2' }),
        d: block('D', { mount_path: '/m/3' }),
        e: block('E', { mount_path: '/m/4' }),
        named: block('N'),
      },
      finds: ['B -> A', 'C -> A', 'D -> A', 'E -> A', 'N -> A'],
    },
    {
      name: 'a name that only begins alike',
      config: { a: block('A', { wait_for_dir: '/mnt/xyz' }), b: block('B', { mount_path: '/mnt/x' }) },
      finds: [],
    },
    {
      name: 'nothing is mounted',
      config: {
        a: block('A', { wait_for_dir: '/mnt/x' }),
        b: block('B', { mount_path: '/mnt/x', mount_type: 'none' }),
      },
      finds: [],
    },
    {
      name: 'blank',
      config: { a: block('A', { wait_for_dir: '' }), b: block('B', { mount_path: '/mnt/x' }) },
      finds: [],
    },
  ],
);
