// Rocket.Chat: each message goes through an incoming webhook, or from a user to every channel of the URL.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface RocketChatConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One undefined member stands for the webhook's own channel. */
  readonly channels: readonly (string | undefined)[];
}

/** Only these, because a backslash before another character would be shown. A zero-width space prevents a mention. */
const ESCAPES = { '*': '\\*', _: '\\_', '~': '\\~', '`': '\\`', '@': '@\u200b' };
const WEBHOOK = /^(\w+)\/(\w+)$/;

const rocketChat: NotificationDestination<RocketChatConfig> = {
  schemes: ['rocket', 'rockets'],
  example: 'rockets://webhook_id%2Ftoken@host',
  escapes: ESCAPES,

  parse(url) {
    const { user, password, segments } = url;
    const [, id, token] = WEBHOOK.exec(password || user) ?? [];
    if (id !== undefined) {
      const channels = segments.length === 0 ? [undefined] : segments;
      return { url: `${url.base()}/hooks/${id}/${token}`, headers: {}, channels };
    }
    if (user === '' || password === '') {
      throw new Problem(
        400,
        'The URL needs a webhook, rockets://id%2Ftoken@host, or a user: rockets://user_id:token@host/#channel',
      );
    }
    if (segments.length === 0) throw new Problem(400, 'A user needs a channel after the host, such as #channel');
    const headers = { 'x-user-id': user, 'x-auth-token': password };
    return { url: `${url.base()}/api/v1/chat.postMessage`, headers, channels: segments };
  },

  send: ({ url, headers, channels }, { text }, delivery) =>
    delivery.each(channels, async channel => {
      const answer = await delivery.request(url, { headers, json: { text, channel } });
      return delivery.outcome(answer, { statuses: [200], isOk: answer.json.success !== false });
    }),
};

export default definePlugin({
  name: 'notify-rocketchat',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'rocketchat', rocketChat),
});
