// Dependencies of services that are often used together.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-documented-integration', 'dependency.signal'),
  [
    {
      name: 'requests and libraries',
      config: { seerr: { instances: { A: block('Q') } }, sonarr: { instances: { A: block('S', { enabled: false }) } } },
      finds: ['S -> Q'],
    },
    {
      name: 'streams and their sources',
      config: { aiostreams: block('A'), zilean: block('Z'), altmount: block('M') },
      finds: ['Z -> A', 'M -> A'],
    },
    {
      name: 'the other way round',
      config: { sonarr: { instances: { A: block('S') } }, zilean: block('Z') },
      finds: [],
    },
  ],
);
