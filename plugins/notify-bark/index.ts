// Bark: each message goes to every device whose key the URL has.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface BarkConfig {
  readonly url: string;
  readonly basic: { readonly user: string; readonly password: string };
  readonly keys: readonly string[];
  readonly options: Readonly<Record<string, string | undefined>>;
}

const LEVELS = ['active', 'timeSensitive', 'passive', 'critical'];

const bark: NotificationDestination<BarkConfig> = {
  schemes: ['bark', 'barks'],
  example: 'barks://host/device_key',

  parse(url) {
    const { segments, query, user, password } = url;
    if (segments.length === 0) throw new Problem(400, 'The URL needs the key of a device: barks://host/device_key');
    const wanted = query.get('level');
    const level = LEVELS.find(name => name.toLowerCase() === wanted?.toLowerCase());
    if (wanted !== undefined && level === undefined) throw new Problem(400, `The level is one of ${LEVELS.join(', ')}`);
    return {
      url: `${url.base()}/push`,
      basic: { user, password },
      keys: segments,
      options: { level, sound: query.get('sound'), group: query.get('group') },
    };
  },

  send: ({ url, basic, keys, options }, { title, body }, delivery) =>
    delivery.each(keys, async key => {
      const json = { device_key: key, title: title || undefined, body, ...options };
      return delivery.outcome(await delivery.request(url, { basic, json }), { statuses: [200] });
    }),
};

export default definePlugin({
  name: 'notify-bark',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'bark', bark),
});
