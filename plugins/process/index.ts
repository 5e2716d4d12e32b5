// Process control: supervises every process of the configuration and shows and controls it over REST and WebSocket.
import { definePlugin } from '#core';
import { EVENTS } from './events.ts';
import { addFrontendEnvironment } from './launch/frontend.ts';
import { newPortConflicts } from './launch/ports.ts';
import { registerRoutes } from './routes/routes.ts';
import { StatusStream } from './routes/status-stream.ts';
import { blockSchema, SupervisionSettings, shutdownSection, startupSection } from './settings.ts';
import { Supervisor } from './supervisor.ts';

/** Longer than any budget that `dumb.shutdown` allows. */
const STOPPING_DEADLINE_MS = 930_000;

export default definePlugin({
  name: 'process',
  host: '^1',
  // Its blocks are there from the beginning.
  after: ['service-templates'],

  setup(host) {
    host.contribute('config.block', '*', { schema: blockSchema });
    host.contribute('config.schema', 'startup', { path: ['dumb', 'startup'], schema: startupSection });
    host.contribute('config.schema', 'shutdown', { path: ['dumb', 'shutdown'], schema: shutdownSection });

    const prepare = host.hook('process.prepare', 'waterfall', { guarded: false });
    const started = host.hook('process.started', 'parallel');
    const exited = host.hook('process.exited', 'parallel');
    const status = host.hook('process.status', 'parallel');
    for (const [type, description] of EVENTS) host.event(type, { description });

    const settings = new SupervisionSettings(path => host.use('config.store').get(path));
    const supervisor = new Supervisor({
      host,
      hooks: {
        prepare: plan => prepare.promise(plan),
        onStatus: snapshot => void status.promise(snapshot),
        onStarted: snapshot => void started.promise(snapshot),
        onExited: (snapshot, exit) => void exited.promise(snapshot, exit),
      },
      startupSettings: () => settings.startup(),
    });

    host.provide('process.supervisor', supervisor);
    registerRoutes(host, supervisor);
    new StatusStream(host, supervisor);

    host.tap('process.prepare', plan => addFrontendEnvironment(plan, host.use('config.store')));
    host.tap('process.probed', (process, health) => supervisor.probed(process, health));
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
