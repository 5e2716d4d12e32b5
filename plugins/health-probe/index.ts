// Health of running processes: their ports and health addresses are asked in turn, and the answers kept for everybody.
import { definePlugin } from '#core';
import type {} from './contract.ts';
import { HealthSampler } from './health-sampler.ts';

export default definePlugin({
  name: 'health-probe',
  host: '^1',
  needs: ['process'],

  setup(host) {
    const probed = host.hook('process.probed', 'parallel');
    host.provide('process.health', new HealthSampler(host, (process, health) => void probed.promise(process, health)));
  },
});
