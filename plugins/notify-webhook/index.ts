// The generic webhook: posts every message as JSON to a web address, with the headers that its user configured.
import { definePlugin, Problem } from '#core';
import { namesHost } from '#kit/url-host';
import type { NotificationDestination } from '../notifications/contract.ts';

/** The text that receivers written for another backend expect. */
const SOURCE = 'DUMB';

interface WebhookConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const webhook: NotificationDestination<WebhookConfig> = {
  schemes: ['http', 'https'],
  example: 'https://host/path',

  parse({ text, headers }) {
    if (!URL.canParse(text) || !namesHost(text)) throw new Problem(400, 'The URL of a webhook needs a host.');
    const { username, password } = new URL(text);
    if (username !== '' || password !== '') {
      throw new Problem(400, 'The URL of a webhook holds no user and password; use a header instead.');
    }
    return { url: text, headers };
  },

  async send({ url, headers }, message, delivery) {
    const { eventId, deliveryId } = message;
    const own = { 'content-type': 'application/json', 'x-event-id': eventId, 'x-delivery-id': deliveryId };
    const configured = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const answer = await delivery.request(url, {
      headers: { ...own, ...Object.fromEntries(configured) },
      json: {
        source: SOURCE,
        event_id: eventId,
        event_type: message.eventType,
        severity: message.severity,
        title: message.title,
        body: message.body,
        service_name: message.serviceName,
        timestamp: message.timestamp,
        delivery_id: deliveryId,
        attempt: message.attempt,
        metadata: message.metadata,
      },
    });
    return delivery.outcome(answer);
  },
};

export default definePlugin({
  name: 'notify-webhook',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'webhook', webhook),
});
