// Probes that a service's block states itself: `readiness`, until which it counts as starting, and `liveness`, without
// which it is restarted.
import { definePlugin } from '#core';
import type {} from '../health-probe/contract.ts';
import type {} from '../process/contract.ts';
import { RunsProbes } from './run-probes.ts';
import { ownPorts, probesBlock } from './settings.ts';

export default definePlugin({
  name: 'readiness',
  host: '^1',
  needs: ['process', 'health-probe'],

  setup(host) {
    host.contribute('config.block', 'readiness', { schema: probesBlock });
    host.contribute('process.own-ports', 'readiness', ownPorts);
    const probes = new RunsProbes(host);
    host.contribute('process.probe', 'readiness', {
      blockKey: 'readiness',
      check: async block => probes.report(block),
    });
    host.tap('process.launching', plan => probes.launching(plan));
    host.tap('process.launched', (plan, process) => probes.launched(process, plan));
    host.tap('process.exited', process => probes.exited(process));
    host.tap('process.status', ({ adopted, status }) => {
      if (adopted && status === 'running') probes.review();
    });
    host.tap('config.changed', () => probes.review());
    host.tap('host.ready', () => probes.review());
    return () => probes.end();
  },
});
