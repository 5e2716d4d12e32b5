// Dependencies of services that are often used together.
import { testSignalSource } from '../../contracts/signal-source.ts';
import { contributionOf } from '../../support/templates.ts';

const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('service-zilean', 'dependency.signal'),
  [
    {
      name: 'everything that searches',
      config: {
        sonarr: { instances: { A: block('S') } },
        cli_debrid: block('C'),
        zilean: block('Z', { enabled: false }),
      },
      finds: ['Z -> S', 'Z -> C'],
    },
    { name: 'what does not', config: { bazarr: block('B'), zilean: block('Z') }, finds: [] },
  ],
);
