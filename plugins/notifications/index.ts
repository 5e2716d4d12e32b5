// Notifications: sends messages about events to the destinations that users have configured.
import { definePlugin } from '#core';
import { provenNowMs } from '#kit/proven-time';
import type {} from '../health/contract.ts';
import type {} from '../process/contract.ts';
import { checkDestinations } from './config-check.ts';
import type {} from './contract.ts';
import { Deliveries } from './deliveries.ts';
import { tellDoubledIds } from './doubled-ids.ts';
import { deliveryMetrics } from './exported-metrics.ts';
import { Intake } from './intake.ts';
import { LostServices } from './lost-services.ts';
import { contributeRecovery, Monitor } from './monitor.ts';
import { conditionPoint, destinationPoint, eventPoint } from './points.ts';
import { QueueStore } from './queue-store.ts';
import { contributeResourceConditions } from './resource-conditions.ts';
import { registerRoutes } from './routes.ts';
import { notificationsSection, readSettings, SECTION_PATH } from './settings.ts';

const PRUNE_MS = 3_600_000;
/** How long running attempts are waited for when the host stops; `WITHDRAWAL_MS` counts when only this plugin stops. */
const STOP_MS = 10_000;
const WITHDRAWAL_MS = 4_000;
const STOPPING_DEADLINE_MS = 12_000;
const MS_PER_S = 1_000;

export default definePlugin({
  name: 'notifications',
  host: '^1',

  setup(host) {
    host.contribute('config.schema', 'notifications', { path: SECTION_PATH, schema: notificationsSection });
    const destinations = host.point('notifications.destination', destinationPoint);
    const events = host.point('notifications.event', eventPoint);
    const sources = host.point('notifications.condition', conditionPoint);
    const settings = () => readSettings(host.use('config.store'));
    const policy = () => {
      const { max_attempts: maxAttempts, retry_base_sec: baseSec } = settings();
      return { maxAttempts, baseSec: host.paced(baseSec * MS_PER_S) / MS_PER_S };
    };
    let isReady = false;
    const isStarted = () => host.find('process.supervisor')?.startup().terminal ?? isReady;

    const store: QueueStore = new QueueStore(host, {
      policy,
      inFlight: () => deliveries.inFlight(),
      changed() {
        void prune();
        intake.flush();
        deliveries.wake();
      },
    });
    const prune = async (): Promise<void> => {
      if (!store.isUsable) return;
      const args = { now: provenNowMs() / MS_PER_S, days: settings().history_retention_days };
      await store.write('prune', args).catch(error => {
        // An unusable store has logged why.
        if (store.isUsable) host.log.error('old records of notifications cannot be removed', error);
      });
    };
    const deliveries = new Deliveries(host, { store, destinations, settings, policy, isStarted });
    const intake = new Intake(host, { store, events, settings, isStarted, queued: () => deliveries.wake() });

    const monitor = new Monitor(host, { store, sources, settings, isStarted });
    const lost = new LostServices(host, settings);
    tellDoubledIds(host, () => settings().destinations);

    host.contribute('health.note', 'notifications', {
      text: () => store.fault && `notifications wait in memory: ${store.fault}`,
    });
    host.contribute('prometheus.metrics', 'notifications', deliveryMetrics(deliveries));
    contributeResourceConditions(host);
    contributeRecovery(host, sources);
    registerRoutes(host, { store, intake, deliveries, events });
    host.tap('config.check', ({ before, after }) => {
      const [section, key] = SECTION_PATH;
      const of = (root: Readonly<Record<string, unknown>>) =>
        (root[section] as Record<string, unknown> | undefined)?.[key];
      checkDestinations(destinations, of(before), of(after));
    });
    host.on('*', event => {
      intake.take(event);
      // Queued messages may be sent from the end of the start on.
      if (event.type === 'dumb.startup.ready' || event.type === 'dumb.startup.degraded') deliveries.wake();
    });
    host.tap('host.ready', () => {
      isReady = true;
      void store.start(settings().enabled);
      monitor.adjust();
      lost.look();
    });
    host.tap('config.changed', ({ paths }) => {
      lost.look();
      if (!paths.some(changed => changed.startsWith(SECTION_PATH.join('.')))) return;
      if (settings().enabled && !store.isUsable && !store.isDegraded) void store.start(true);
      monitor.adjust();
      deliveries.wake();
    });
    host.every(PRUNE_MS, prune);
    host.tap('host.stopping', () => deliveries.stop(host.paced(STOP_MS)), { deadlineMs: STOPPING_DEADLINE_MS });
    return async () => {
      const stopped = host.stopping === null ? deliveries.stop(host.paced(WITHDRAWAL_MS)) : undefined;
      await Promise.all([intake.end(), stopped]);
      store.close();
    };
  },
});
