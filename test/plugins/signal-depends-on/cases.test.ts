// Services that depends_on names.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-depends-on', 'dependency.signal'),
  [
    { name: 'one name', config: { a: block('A', { depends_on: 'B' }), b: block('B') }, finds: ['B -> A'] },
    {
      name: 'a list, by name and key',
      config: {
        a: block('A', { depends_on: ['b', { process_name: 'C', condition: 'healthy' }] }),
        b: block('Bee'),
        c: block('C'),
      },
      finds: ['Bee -> A', 'C -> A'],
    },
    {
      name: 'conditions by name',
      config: {
        a: block('A', { depends_on: { B: 'completed', C: { condition: 'started' } } }),
        b: block('B'),
        c: block('C'),
      },
      finds: ['B -> A', 'C -> A'],
    },
    {
      name: 'nobody',
      config: { a: block('A', { depends_on: ['X', 3] }), b: block('B', { depends_on: [] }) },
      finds: [],
    },
  ],
);
