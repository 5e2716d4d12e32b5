// A boot in layers: each service starts after what it needs is ready, independent ones start in parallel, a failure is
// reported, and the stop is in reverse.
import { existsSync } from 'node:fs';
import t from 'tap';
import { recordEvents } from '../../support/events.ts';
import { signals } from '../../support/graph.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const skip = !existsSync(`${pluginsDir}/dependency-graph/index.ts`);
const LAYERS = 4;
const WIDTH = 5;

/** Each service needs, by name, every service of the previous layer. */
function layers(broken?: string): Record<string, unknown> {
  const name = (layer: number, place: number) => `L${layer} ${place}`;
  return Object.fromEntries(
    Array.from({ length: LAYERS * WIDTH }, (_, index) => {
      const [layer, place] = [Math.floor(index / WIDTH), index % WIDTH];
      const own = name(layer, place);
      return [
        `service_${index}`,
        {
          enabled: true,
          process_name: own,
          command: own === broken ? ['false'] : ['sleep', '600'],
          config_dir: '/',
          suppress_logging: true,
          stop_grace_seconds: 2,
          ...(layer === 0
            ? {}
            : { core_service: Array.from({ length: WIDTH }, (_none, other) => name(layer - 1, other)) }),
        },
      ];
    }),
  );
}

const layerOf = (name: string): number => Number(/^L(\d)/.exec(name)?.[1]);

t.test('layers start in order, and stop in reverse', { skip, timeout: 240_000 }, async t => {
  const recorder = await recordEvents(t, ['services', 'dependency-graph', ...(await signals())]);
  const app = await startHost({
    plugins: recorder.plugins,
    pluginDirs: recorder.pluginDirs,
    // At this pace a service ends within the observation, even on a slow machine.
    pace: 1,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.2 } },
      ...layers('L1 0'),
    },
  });
  await until(async () => (await app.get('/process/startup-status')).body.terminal, { timeoutMs: 120_000 });
  const started = recorder.events
    .filter(({ type }) => type === 'service_start')
    .map(event => String(event.data.processName));
  t.equal(started.length, LAYERS * WIDTH - 1, 'all but the broken one');
  t.same(started.map(layerOf), [...started].map(layerOf).sort(), 'layer after layer');

  const { body } = await app.get('/process/startup-status');
  t.equal(body.phase, 'degraded');
  t.match(body.failures, { 'L1 0': /failed to stay running/ });
  t.match(body.services['L2 3'], { state: 'ready', reason: 'it needs L1 0, which failed' });
  t.equal(body.services['L3 0'].reason, null, 'those further down have all that they need');
  const chain = body.critical_chain.map((link: { process_name: string }) => layerOf(link.process_name));
  t.same(chain, [0, 1, 2, 3], 'the chain goes through every layer');
  t.match(body.critical_chain[3], { waited_for: /^L2/, waited_seconds: Number, start_seconds: Number });

  await app.stop();
  const stopped = recorder.events
    .filter(({ type }) => type === 'service_stop')
    .map(event => layerOf(String(event.data.processName)));
  t.same(
    stopped,
    [...stopped].sort((a, b) => b - a),
    'the last layer first',
  );
});
