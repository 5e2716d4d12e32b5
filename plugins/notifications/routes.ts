// The routes of notifications.
import { type ContributionList, type Host, Problem } from '#core';
import { configAnswer, configBody, configFromWire, configToWire, enabledNames, saveAnswer } from './config-wire.ts';
import type { NotificationEvent } from './contract.ts';
import type { Deliveries } from './deliveries.ts';
import { listedTypes } from './event-types.ts';
import {
  clearAnswer,
  eventsAnswer,
  historyAnswer,
  historyQuery,
  recordSchema,
  recordToWire,
  sendAnswer,
  sendBody,
  testBody,
} from './history-wire.ts';
import type { Intake } from './intake.ts';
import type { QueueStore } from './queue-store.ts';
import { readSettings } from './settings.ts';
import { SEVERITIES } from './severity.ts';

const TEST_TITLE = 'Test notification';
const TEST_BODY = 'This destination receives notifications.';

export interface RouteParts {
  readonly store: QueueStore;
  readonly intake: Intake;
  readonly deliveries: Deliveries;
  readonly events: ContributionList<NotificationEvent>;
}

export function registerRoutes(host: Host, { store, intake, deliveries, events }: RouteParts): void {
  const config = () => host.use('config.store');
  const destinations = () => readSettings(config()).destinations;
  const shown = () => configToWire(readSettings(config()), new Set(enabledNames(host)));

  host.route({
    method: 'GET',
    path: '/notifications/config',
    summary: 'What is told to whom, without secrets',
    capability: 'notifications',
    response: configAnswer,
    handle: shown,
  });
  host.route({
    method: 'POST',
    path: '/notifications/config',
    summary: 'Saves what is told to whom; blank secrets stay as they are stored',
    capability: 'notifications',
    body: configBody,
    response: saveAnswer,
    async handle({ body, identity }) {
      const section = configFromWire(body.config, host);
      const updates = { dumb: { notifications: section } };
      const actor = identity.username ?? 'api';
      const { overridden, warnings } = await config().update({ updates, persist: true, actor });
      return { ...shown(), overridden: [...overridden], warnings: [...warnings] };
    },
  });
  host.route({
    method: 'GET',
    path: '/notifications/events',
    summary: 'The types of events that can be told at present',
    capability: 'notifications',
    response: eventsAnswer,
    handle: () => ({ event_types: listedTypes(events), severities: [...SEVERITIES] }),
  });
  host.route({
    method: 'POST',
    path: '/notifications/test',
    summary: 'Sends a test to one destination at once, whatever the switches say',
    capability: 'notifications',
    body: testBody,
    response: recordSchema,
    async handle({ body }) {
      const destination = destinations().find(({ id }) => id === body.destination_id);
      if (destination === undefined || destination.url === '')
        throw new Problem(400, 'Destination was not found or has no configured URL.');
      const message = { title: body.title ?? TEST_TITLE, body: body.body ?? TEST_BODY, severity: 'info' } as const;
      return recordToWire(await deliveries.test(destination, message));
    },
  });
  host.route({
    method: 'POST',
    path: '/notifications/send',
    summary: 'Sends a message to destinations that are enabled',
    capability: 'notifications',
    body: sendBody,
    response: sendAnswer,
    async handle({ body: { title, body, severity: sent = 'info', destination_ids: ids } }) {
      const severity = SEVERITIES.find(known => known === sent);
      if (severity === undefined) throw new Problem(400, `The severity must be one of ${SEVERITIES.join(', ')}.`);
      const chosen = destinations().filter(
        ({ id, enabled, url }) => enabled && url !== '' && (ids == null || ids.includes(id)),
      );
      if (chosen.length === 0)
        throw new Problem(400, 'No enabled destination with a configured URL matched the request.');
      const deliveryIds = await intake.send({ title, body, severity }, chosen);
      return { status: 'queued' as const, delivery_ids: deliveryIds };
    },
  });
  host.route({
    method: 'GET',
    path: '/notifications/history',
    summary: 'The newest deliveries',
    capability: 'notifications',
    compress: true,
    query: historyQuery,
    response: historyAnswer,
    async handle({ query: { limit, status, event_type: eventType } }) {
      const rows = await store.ask('history', { limit, status, eventType });
      return { items: rows.map(recordToWire) };
    },
  });
  host.route({
    method: 'DELETE',
    path: '/notifications/history',
    summary: 'Removes the deliveries that are over',
    capability: 'notifications',
    response: clearAnswer,
    handle: async () => ({ deleted: await store.ask('clear', undefined) }),
  });
}
