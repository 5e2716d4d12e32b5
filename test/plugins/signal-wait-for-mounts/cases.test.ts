// Dependencies on services that provide awaited mounts.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-wait-for-mounts', 'dependency.signal'),
  [
    {
      name: 'the mount itself before those around it',
      config: {
        a: block('A', { wait_for_mounts: ['/mnt/x'] }),
        b: block('B', { mount_path: '/mnt/x' }),
        c: block('C', { mount_path: '/mnt' }),
        d: block('D', { mount_path: '/mnt/x/y' }),
      },
      finds: ['B -> A'],
    },
    {
      name: 'the nearest above',
      config: {
        a: block('A', { wait_for_mounts: ['/mnt/x/y/z'] }),
        b: block('B', { mount_path: '/mnt' }),
        c: block('C', { mount_path: '/mnt/x/' }),
      },
      finds: ['C -> A'],
    },
    {
      name: 'all below',
      config: {
        a: block('A', { wait_for_mounts: ['/mnt'] }),
        b: block('B', { mount_path: '/mnt/x' }),
        c: block('C', { mount_path: '/mnt/../mnt/y' }),
      },
      finds: ['B -> A', 'C -> A'],
    },
    {
      name: 'enabled before disabled',
      config: {
        a: block('A', { wait_for_mounts: ['/mnt/x'] }),
        b: block('B', { mount_path: '/mnt/x', enabled: false }),
        c: block('C', { mount_path: '/mnt' }),
      },
      finds: ['C -> A'],
    },
    {
      name: 'a disabled one for want of others',
      config: {
        a: block('A', { wait_for_mounts: ['/mnt/x'] }),
        b: block('B', { mount_path: '/mnt/x', enabled: false }),
      },
      finds: ['B -> A'],
    },
    {
      name: 'the root is nobody’s, and relative paths are none',
      config: {
        a: block('A', { wait_for_mounts: ['/', 'mnt/x', 7] }),
        b: block('B', { mount_path: '/' }),
        c: block('C', { mount_path: 'mnt/x' }),
      },
      finds: [],
    },
  ],
);
