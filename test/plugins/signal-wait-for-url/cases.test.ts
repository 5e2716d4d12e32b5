// Dependencies on services whose answer another one waits for.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-wait-for-url', 'dependency.signal'),
  [
    {
      name: 'a local port',
      config: { a: block('A', { wait_for_url: 'http://127.0.0.1:7001/x' }), b: block('B', { port: 7001 }) },
      finds: ['B -> A'],
    },
    {
      name: 'all forms of a local address',
      config: {
        a: block('A', {
          wait_for_url: ['http://localhost:1/', { url: 'http://[::1]:2/' }, { url: 'https://0.0.0.0/' }],
        }),
        b: block('B', { port: 1 }),
        c: block('C', { ui_port: 2 }),
        d: block('D', { ports: [443] }),
      },
      finds: ['B -> A', 'C -> A', 'D -> A'],
    },
    {
      name: 'another machine',
      config: { a: block('A', { wait_for_url: 'http://192.0.2.1:7001/' }), b: block('B', { port: 7001 }) },
      finds: [],
    },
    {
      name: 'of several listeners the enabled',
      config: {
        a: block('A', { wait_for_url: 'http://localhost:3000/' }),
        b: block('B', { port: 3000, enabled: false }),
        c: block('C', { port: 3000 }),
      },
      finds: ['C -> A'],
    },
    {
      name: 'the only disabled',
      config: {
        a: block('A', { wait_for_url: 'http://localhost:3000/' }),
        b: block('B', { port: 3000, enabled: false }),
      },
      finds: ['B -> A'],
    },
    {
      name: 'two disabled',
      config: {
        a: block('A', { wait_for_url: 'http://localhost:3000/' }),
        b: block('B', { port: 3000, enabled: false }),
        c: block('C', { port: 3000, enabled: false }),
      },
      finds: [],
    },
    {
      name: 'named in each way',
      config: {
        a: block('A', {
          wait_for_url: [{ url: 'http://plex/', core_service: 'decypharr', service: 'b', process_name: 'The C' }],
        }),
        plex: block('Plex'),
        decypharr: block('D'),
        b: block('B'),
        c: block('The C'),
      },
      finds: ['Plex -> A', 'D -> A', 'B -> A', 'The C -> A'],
    },
    {
      name: 'a route',
      config: { a: block('A', { wait_for_url: 'http://gateway.example:3005/ui/the_c/' }), c: block('The C') },
      finds: ['The C -> A'],
    },
    {
      name: 'what is no address',
      config: { a: block('A', { wait_for_url: ['', 'localhost:7001', null, 7] }), b: block('B', { port: 7001 }) },
      finds: [],
    },
    {
      name: 'its own port',
      config: { a: block('A', { port: 7001, wait_for_url: 'http://localhost:7001/' }) },
      finds: [],
    },
  ],
);
