// Pushbullet: each message goes to all devices of an account, or to the devices, addresses and channels of the URL.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface PushbulletConfig {
  readonly token: string;
  /** For each target, the member of the request that names it. */
  readonly targets: readonly Readonly<Record<string, string>>[];
}

const pushbullet: NotificationDestination<PushbulletConfig> = {
  schemes: ['pbul'],
  example: 'pbul://access_token',

  parse({ host, segments }) {
    if (!/^[\w.-]+$/.test(host))
      throw new Problem(400, 'The URL needs the access token as its host: pbul://access_token');
    return { token: host, targets: segments.length === 0 ? [{}] : segments.map(targetOf) };
  },

  send: ({ token, targets }, { title, body }, delivery) =>
    delivery.each(targets, async target => {
      const answer = await delivery.request('https://api.pushbullet.com/v2/pushes', {
        headers: { 'access-token': token },
        json: { type: 'note', title: title || undefined, body, ...target },
      });
      return delivery.outcome(answer, { statuses: [200] });
    }),
};

function targetOf(segment: string): Record<string, string> {
  if (segment.startsWith('#')) return { channel_tag: segment.slice(1) };
  return segment.includes('@') ? { email: segment } : { device_iden: segment };
}

export default definePlugin({
  name: 'notify-pushbullet',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'pushbullet', pushbullet),
});
