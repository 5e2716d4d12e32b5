// Process control: supervises every process of the configuration and shows and controls it over REST and WebSocket.
import { definePlugin } from '#core';
import { AutoRestart } from './auto-restart.ts';
import type { ProcessEventType } from './contract.ts';
import { HealthSampler } from './health-sampler.ts';
import { newPortConflicts } from './launch/ports.ts';
import { registerRoutes } from './routes/routes.ts';
import { StatusStream } from './routes/status-stream.ts';
import { autoRestartSection, blockSchema, SupervisionSettings, shutdownSection, startupSection } from './settings.ts';
import { Supervisor } from './supervise/supervisor.ts';

/** Longer than any budget that `dumb.shutdown` allows. */
const STOPPING_DEADLINE_MS = 930_000;

export default definePlugin({
  name: 'process',
  host: '^1',
  // Its blocks are there from the beginning.
  after: ['service-templates'],

  setup(host) {
    host.contribute('config.block', 'process', { schema: blockSchema });
    host.contribute('config.schema', 'startup', { path: ['dumb', 'startup'], schema: startupSection });
    host.contribute('config.schema', 'shutdown', { path: ['dumb', 'shutdown'], schema: shutdownSection });
    host.contribute('config.schema', 'auto-restart', { path: ['dumb', 'auto_restart'], schema: autoRestartSection });

    const prepare = host.hook('process.prepare', 'waterfall', { guarded: false });
    const started = host.hook('process.started', 'parallel');
    const exited = host.hook('process.exited', 'parallel');
    const status = host.hook('process.status', 'parallel');
    const event = host.hook('process.event', 'parallel');

    const settings = new SupervisionSettings(path => host.use('config.store').get(path));
    const tell = (type: ProcessEventType, processName: string | null, reason: string | null) =>
      void event.promise({ type, processName, reason, at: Date.now() / 1_000 });

    const sampler = new HealthSampler(host, () => supervisor.list());
    const supervisor: Supervisor = new Supervisor({
      host,
      hooks: {
        prepare: plan => prepare.promise(plan),
        onStatus: snapshot => void status.promise(snapshot),
        onStarted: snapshot => void started.promise(snapshot),
        onExited(snapshot, exit) {
          autoRestart.exited(snapshot, exit);
          void exited.promise(snapshot, exit);
        },
        onEvent: tell,
      },
      health: name => sampler.health(name),
      isReady: name => sampler.isReady(name),
      startupSettings: () => settings.startup(),
    });
    const autoRestart = new AutoRestart({
      host,
      supervisor,
      settings: () => settings.autoRestart(),
      health: name => sampler.health(name),
      onEvent: tell,
    });

    host.provide('process.supervisor', supervisor);
    registerRoutes(host, { supervisor, sampler, autoRestart });
    new StatusStream(host, { supervisor, sampler, autoRestart });

    host.tap('config.check', ({ before, after, warnings }) => {
      supervisor.checkRemovals(before, after);
      warnings.push(...newPortConflicts(before, after));
    });
    host.tap('host.ready', () => void supervisor.boot());
    host.tap('host.forced', () => supervisor.kill());
    host.tap(
      'host.stopping',
      async () => {
        const { budgetMs, keepServices } = settings.shutdown();
        if (host.stopping === 'request' && !keepServices) await supervisor.shutDown(budgetMs);
      },
      { deadlineMs: STOPPING_DEADLINE_MS },
    );
    return () => supervisor.handOver();
  },
});
