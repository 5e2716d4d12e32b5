// Home Assistant: each message becomes a persistent notification, or a call of the services that the URL names.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface ServiceCall {
  /** Domain and name, with a `/` between them. */
  readonly service: string;
  /** Members of the request besides title and message. */
  readonly members: Readonly<Record<string, unknown>>;
}

interface HomeAssistantConfig {
  /** Address of the API for services, to which domain and name are appended. */
  readonly base: string;
  readonly token: string;
  /** Empty for a persistent notification. */
  readonly calls: readonly ServiceCall[];
  readonly notificationId: string | undefined;
}

const STANDING = 'persistent_notification/create';
const HTTP_PORT = 8_123;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const SERVICE = /^(?:(\w+)\.)?(\w+)(?::(.+))?$/;

const homeAssistant: NotificationDestination<HomeAssistantConfig> = {
  schemes: ['hassio', 'hassios'],
  example: 'hassio://host/access_token',

  parse(url) {
    const { segments, query } = url;
    const given = query.get('accesstoken') ?? '';
    const shaped = segments.findIndex(segment => JWT.test(segment));
    const at = given !== '' ? -1 : shaped >= 0 ? shaped : segments.length - 1;
    const token = given || segments[at];
    if (token === undefined) throw new Problem(400, 'The URL needs an access token after the host');
    const prefix = (query.get('prefix') ?? '')
      .split('/')
      .filter(part => part !== '')
      .map(part => `/${encodeURIComponent(part)}`);
    return {
      base: `${url.base(url.isSecure ? undefined : HTTP_PORT)}${prefix.join('')}/api/services/`,
      token,
      calls: segments.filter((_, index) => index !== at).map(callOf),
      notificationId: query.get('nid'),
    };
  },

  send({ base, token, calls, notificationId }, { title, body, deliveryId }, delivery) {
    const headers = { authorization: `Bearer ${token}` };
    const text = { title: title || undefined, message: body };
    const standing = { notification_id: notificationId ?? deliveryId };
    const requests: readonly ServiceCall[] = calls.length === 0 ? [{ service: STANDING, members: standing }] : calls;
    return delivery.each(requests, async ({ service, members }) => {
      const answer = await delivery.request(base + service, { headers, json: { ...text, ...members } });
      return delivery.outcome(answer, { statuses: [200] });
    });
  },
};

/** `mobile_app`, `notify.mobile_app` or `notify.mobile_app:target,target`. */
function callOf(segment: string): ServiceCall {
  const [, domain = 'notify', name, targets] = SERVICE.exec(segment) ?? [];
  if (name === undefined)
    throw new Problem(400, 'A service is written as service, domain.service or domain.service:target');
  const target = targets?.split(',').map(part => part.trim());
  return { service: `${domain}/${name}`, members: { target } };
}

export default definePlugin({
  name: 'notify-home-assistant',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'home-assistant', homeAssistant),
});
