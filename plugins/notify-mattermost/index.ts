// Mattermost: each message goes through an incoming webhook to its own channel, or to those that the URL names.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface MattermostConfig {
  readonly url: string;
  readonly username: string | undefined;
  /** One undefined member stands for the webhook's own channel. */
  readonly channels: readonly (string | undefined)[];
}

const TOKEN = /^[a-z0-9]+$/i;

const mattermost: NotificationDestination<MattermostConfig> = {
  schemes: ['mmost', 'mmosts'],
  example: 'mmosts://host/token',
  limits: { text: 4_000 },
  escapes: 'markdown',

  parse(url) {
    const token = url.segments.at(-1) ?? '';
    if (!TOKEN.test(token)) throw new Problem(400, 'The URL needs the token of the webhook: mmosts://host/token');
    const named = (url.query.get('channel') ?? '').split(',').map(name => name.trim().replace(/^#/, ''));
    const channels = named.filter(name => name !== '');
    return {
      url: `${url.base()}${url.path(0, -1)}/hooks/${token}`,
      username: url.user || undefined,
      channels: channels.length === 0 ? [undefined] : channels,
    };
  },

  send: ({ url, username, channels }, { text }, delivery) =>
    delivery.each(channels, async channel => {
      const answer = await delivery.request(url, { json: { text, username, channel } });
      return delivery.outcome(answer, { statuses: [200] });
    }),
};

export default definePlugin({
  name: 'notify-mattermost',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'mattermost', mattermost),
});
