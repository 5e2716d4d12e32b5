// Metrics: what the machine and its processes use, now; on request and as a stream.
import { definePlugin, Problem } from '#core';
import { usageMetrics } from './exported-metrics.ts';
import { MetricsStream } from './metrics-stream.ts';
import { collectorPoint, introductionPoint } from './points.ts';
import { Sampler } from './sampler.ts';
import { metricsSection, readSettings } from './settings.ts';
import { fileSystemsSchema, fileSystemToWire, interfacesSchema, interfaceToWire, sampleSchema } from './wire.ts';

export default definePlugin({
  name: 'metrics',
  host: '^1',

  setup(host) {
    host.contribute('config.schema', 'metrics', { path: ['dumb', 'metrics'], schema: metricsSection });
    host.point('metrics.collector', collectorPoint);
    host.point('metrics.introduction', introductionPoint);
    const sampler = new Sampler(host);
    host.provide('metrics.sampler', sampler);
    host.contribute('prometheus.metrics', 'usage', usageMetrics(sampler));
    const settings = () => readSettings(host.use('config.store').get('dumb.metrics'));

    host.route({
      method: 'GET',
      path: '/metrics',
      compress: true,
      summary: 'What the machine, the managed processes and the busiest others use',
      response: sampleSchema,
      async handle() {
        try {
          return sampler.answer(await sampler.sample());
        } catch (cause) {
          throw new Problem(503, 'Metrics are not available yet.', { cause });
        }
      },
    });
    host.route({
      method: 'GET',
      path: '/metrics/filesystems',
      summary: 'File systems that can be watched',
      capability: 'metrics_filesystem_selection',
      response: fileSystemsSchema,
      async handle() {
        const candidates = await sampler.fileSystems.candidates();
        return { configured_paths: settings().paths, candidates: candidates.map(fileSystemToWire) };
      },
    });
    host.route({
      method: 'GET',
      path: '/metrics/network-interfaces',
      summary: 'Network interfaces that can be counted',
      capability: 'metrics_network_interface_selection',
      response: interfacesSchema,
      handle: () => ({
        configured_interfaces: settings().interfaces ?? ['all'],
        candidates: sampler.network.all().map(interfaceToWire),
      }),
    });
    new MetricsStream(host, sampler);
    return () => sampler.close();
  },
});
