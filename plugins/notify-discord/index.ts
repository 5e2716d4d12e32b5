// Discord: each message is an embed that a webhook of a channel posts, and that mentions nobody.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface DiscordConfig {
  readonly url: string;
  readonly username: string | undefined;
}

const NATIVE_HOST = /^(?:(?:canary|ptb)\.)?discord(?:app)?\.com$/;
const NATIVE_PATH = /^\/api(?:\/v\d+)?\/webhooks\/([^/]+)\/([^/]+)/;

const discord: NotificationDestination<DiscordConfig> = {
  schemes: ['discord'],
  example: 'discord://webhook_id/webhook_token',
  limits: { title: 256, body: 4_096, total: 6_000 },
  escapes: 'markdown',
  native: url => NATIVE_HOST.test(url.hostname) && NATIVE_PATH.test(url.pathname),

  parse(url) {
    const isNative = url.scheme !== 'discord';
    const [id = '', token = ''] = isNative
      ? url.segments.slice(url.segments.indexOf('webhooks') + 1)
      : [url.host, ...url.segments];
    if (!/^\d+$/.test(id)) {
      throw new Problem(400, 'The URL needs the number of the webhook as its host: discord://webhook_id/webhook_token');
    }
    if (!/^[\w-]+$/.test(token)) {
      throw new Problem(400, 'The URL needs the token of the webhook: discord://webhook_id/webhook_token');
    }
    const thread = url.query.get(isNative ? 'thread_id' : 'thread') ?? '';
    const query = thread === '' ? '' : `?thread_id=${encodeURIComponent(thread)}`;
    return {
      url: `https://discord.com/api/webhooks/${id}/${token}${query}`,
      username: isNative ? undefined : url.user || undefined,
    };
  },

  async send({ url, username }, { title, body, color }, delivery) {
    const embed = { title: title || undefined, description: body, color };
    const answer = await delivery.request(url, {
      json: { username, embeds: [embed], allowed_mentions: { parse: [] } },
    });
    const { retry_after: retryAfterSec } = answer.json;
    return delivery.outcome(answer, { statuses: [200, 204], retryAfterSec });
  },
};

export default definePlugin({
  name: 'notify-discord',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'discord', discord),
});
