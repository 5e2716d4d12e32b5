// Notifiarr: each message goes to every channel of the URL, through the service's integration for gateways.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface NotifiarrConfig {
  readonly key: string;
  readonly channels: readonly string[];
}

const NAME = 'Stackwarden';

const notifiarr: NotificationDestination<NotifiarrConfig> = {
  schemes: ['notifiarr'],
  example: 'notifiarr://api_key/#channel_id',
  limits: { title: 256, body: 4_096 },
  escapes: 'markdown',

  parse({ host, segments }) {
    if (!/^[\w-]+$/.test(host))
      throw new Problem(400, 'The URL needs the API key as its host: notifiarr://api_key/#channel_id');
    const channels = segments.map(segment => segment.replace(/^#/, ''));
    if (channels.length === 0 || !channels.every(channel => /^\d{1,20}$/.test(channel))) {
      throw new Problem(400, 'The URL needs the number of a channel: notifiarr://api_key/#channel_id');
    }
    return { key: host, channels };
  },

  send: ({ key, channels }, { title, body, color, type }, delivery) =>
    delivery.each(channels, async channel => {
      const json = JSON.stringify({
        source: NAME,
        type,
        notification: { update: false, name: NAME, event: '' },
        discord: {
          color: color.toString(16).padStart(6, '0'),
          ping: { pingUser: 0, pingRole: 0 },
          text: { title, content: '', description: body, footer: NAME },
          ids: { channel },
        },
      });
      const answer = await delivery.request('https://notifiarr.com/api/v1/notification/apprise', {
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        // The channel must be a number, which is too large for one of JavaScript. Quotes in texts are escaped, so only
        // the member itself matches.
        body: json.replace(/"channel":"(\d+)"/, '"channel":$1'),
      });
      return delivery.outcome(answer, { statuses: [200] });
    }),
};

export default definePlugin({
  name: 'notify-notifiarr',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'notifiarr', notifiarr),
});
