// Apprise: a gateway that passes each message on to the services that it keeps under a key.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface GatewayConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly basic: { readonly user: string; readonly password: string };
  readonly tag: string | undefined;
}

const KEY = /^[\w-]{1,128}$/;
const REASONS: Readonly<Record<number, string>> = {
  204: 'the gateway has no services under this key',
  424: 'the gateway could not reach all of its services',
};

const gateway: NotificationDestination<GatewayConfig> = {
  schemes: ['apprise', 'apprises'],
  example: 'apprises://host/key',

  parse(url) {
    const key = url.segments.at(-1) ?? '';
    if (!KEY.test(key)) throw new Problem(400, 'The URL needs the key of a configuration: apprises://host/key');
    return {
      url: `${url.base()}${url.path(0, -1)}/notify/${key}`,
      headers: { accept: 'application/json', ...url.extraHeaders() },
      basic: { user: url.user, password: url.password },
      tag: url.query.get('tags') || undefined,
    };
  },

  async send({ url, headers, basic, tag }, { title, body, type, format }, delivery) {
    const answer = await delivery.request(url, {
      headers,
      basic,
      json: { title, body: body || title, type, format, tag },
    });
    return delivery.outcome(answer, { statuses: [200], reason: REASONS[answer.status] });
  },
};

export default definePlugin({
  name: 'notify-apprise',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'apprise', gateway),
});
