// Health of running processes: probes their ports and health addresses in turn and keeps the reports for other plugins.
import { definePlugin } from '#core';
import type { HealthReport, ProcessSnapshot } from '../process/contract.ts';
import type {} from './contract.ts';
import { HealthSampler } from './health-sampler.ts';
import { probePoint } from './points.ts';
import { healthBlock } from './settings.ts';

export default definePlugin({
  name: 'health-probe',
  host: '^1',
  needs: ['process'],

  setup(host) {
    host.contribute('config.block', 'health', { schema: healthBlock });
    host.contribute('process.own-ports', 'health', { members: [['health', 'port']] });
    const probed = host.hook('process.probed', 'parallel');
    const probes = host.point('process.probe', probePoint);
    const onAnswer = (process: ProcessSnapshot, health: HealthReport) => void probed.promise(process, health);
    const sampler = new HealthSampler(host, probes, onAnswer);
    host.provide('process.health', sampler);
    host.tap('process.status', process => sampler.seen(process));
  },
});
