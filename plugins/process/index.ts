// Process control: supervises every process of the configuration, and shows and controls it over REST and WebSocket.
import { definePlugin } from '#core';
import { PrivateDirectory } from '#kit/private-directory';
import type {} from '../health/contract.ts';
import { EVENTS } from './events.ts';
import { processMetrics, spoolMetrics } from './exported-metrics.ts';
import { newPortConflicts } from './launch/ports.ts';
import { contributeNotices } from './notices.ts';
import { launchPlanSchema, ownPortsPoint } from './points.ts';
import { registerOperationRoutes } from './routes/operation-routes.ts';
import { registerStatusRoutes } from './routes/status-routes.ts';
import { StatusStream } from './routes/status-stream.ts';
import { blockSchema, mountKeys, SupervisionSettings, shutdownSection, startupSection } from './settings.ts';
import { tellAccessLogWords } from './supervise/access-log-words.ts';
import { usualLogFiles } from './supervise/usual-log.ts';
import { STATE_DIRECTORY, Supervisor } from './supervisor.ts';

/** Longer than any budget that `dumb.shutdown` allows. */
const STOPPING_DEADLINE_MS = 930_000;
/** Long enough for taps that create databases, install programs or clear caches. */
const PREPARE_DEADLINE_MS = 900_000;
/** Long enough for taps that wait for the first answer of the started service. */
const STARTED_DEADLINE_MS = 120_000;
/** Long enough for a start that waits for what it needs. */
const CONTROL_DEADLINE_MS = 3_600_000;

export default definePlugin({
  name: 'process',
  host: '^1',
  // The blocks that `services` adds exist before supervision begins.
  after: ['services'],

  async setup(host) {
    // A state directory that other users may write to fails the set-up: its records decide which processes get signals.
    const state = await PrivateDirectory.open(host.paths.configDir, [STATE_DIRECTORY], { create: false });
    await state?.close();

    host.contribute('config.block', 'process', {
      schema: blockSchema,
      defaults: blocks =>
        usualLogFiles(blocks, host.paths.logDir).map(file => (file === null ? {} : { log_file: file })),
    });
    host.contribute('config.block', 'mounts', { schema: mountKeys, marksOnly: true });
    host.contribute('config.schema', 'startup', { path: ['dumb', 'startup'], schema: startupSection });
    host.contribute('config.schema', 'shutdown', { path: ['dumb', 'shutdown'], schema: shutdownSection });

    host.point('process.own-ports', ownPortsPoint);
    const prepare = host.hook('process.prepare', 'waterfall', {
      guarded: false,
      deadlineMs: PREPARE_DEADLINE_MS,
      schema: launchPlanSchema,
    });
    const launching = host.hook('process.launching', 'parallel');
    const launched = host.hook('process.launched', 'parallel');
    const started = host.hook('process.started', 'parallel', { deadlineMs: STARTED_DEADLINE_MS });
    const exited = host.hook('process.exited', 'parallel');
    const status = host.hook('process.status', 'parallel');
    for (const [type, description] of EVENTS) host.event(type, { description });
    contributeNotices(host);

    const settings = new SupervisionSettings(path => host.use('config.store').get(path));
    const supervisor = new Supervisor({
      host,
      hooks: {
        prepare: plan => prepare.promise(plan),
        onLaunching: plan => launching.promise(plan),
        onLaunched: (plan, snapshot) => launched.promise(plan, snapshot),
        onStatus: snapshot => void status.promise(snapshot),
        onStarted: snapshot => void started.promise(snapshot),
        onExited: (snapshot, exit) => void exited.promise(snapshot, exit),
      },
      startupSettings: () => settings.startup(),
    });

    // A hold has a deadline of its own, which also ends the wait of `released`.
    const deadlinesMs = { hold: Number.POSITIVE_INFINITY, released: Number.POSITIVE_INFINITY };
    host.provide('process.supervisor', supervisor, { deadlineMs: CONTROL_DEADLINE_MS, deadlinesMs });
    registerStatusRoutes(host, supervisor);
    registerOperationRoutes(host, supervisor);
    new StatusStream(host, supervisor);
    host.contribute('prometheus.metrics', 'process', processMetrics(supervisor));
    host.contribute('health.note', 'process', {
      text: () =>
        supervisor.stateFault && `a restart of Stackwarden would not know its processes: ${supervisor.stateFault}`,
    });
    const spools = spoolMetrics(() => supervisor.spoolFigures());
    host.contribute('prometheus.metrics', 'spool', spools);

    host.tap('process.probed', (process, health) => supervisor.probed(process, health));
    host.tap('config.check', ({ before, after, warnings }) => {
      supervisor.checkRemovals(before, after);
      supervisor.checkRights(before, after);
      warnings.push(...newPortConflicts(before, after));
    });
    host.tap('config.review', async ({ problems }) => void problems.push(...(await supervisor.obstacles())));
    tellAccessLogWords(host);
    host.tap('host.ready', () => void supervisor.boot());
    host.tap('host.hangup', () => supervisor.rotateLogs());
    host.tap('host.forced', async () => {
      // Services that are to be left running outlive this host, however it ends.
      if (host.stopping !== 'fault' && !settings.shutdown().keepServices) await supervisor.kill();
    });
    host.tap(
      'host.stopping',
      async () => {
        const { budgetMs, keepServices } = settings.shutdown();
        if (host.stopping !== 'request') return;
        if (!keepServices) return supervisor.shutDown(budgetMs);
        const left = supervisor.list().filter(({ isHost, pid }) => !isHost && pid !== null);
        const names = left.map(({ processName }) => processName).join(', ');
        if (left.length > 0) host.log.info(`left running, for the next start to adopt: ${names}`);
      },
      { deadlineMs: STOPPING_DEADLINE_MS },
    );
    return () => supervisor.handOver();
  },
});
