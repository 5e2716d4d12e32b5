// Slack: each message goes to a webhook, or by a bot to every channel of the URL.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface SlackConfig {
  readonly url: string;
  /** Token of the bot; undefined for a webhook. */
  readonly token: string | undefined;
  readonly username: string | undefined;
  /** One undefined member stands for the webhook's own channel. */
  readonly channels: readonly (string | undefined)[];
}

const NATIVE_PATH = /^\/services\/[^/]+\/[^/]+\/[^/]+\/?$/;
const BOT_TOKEN = /^xox[a-z]-[\w.-]+$/i;
const PART = /^\w+$/;
const WEBHOOKS = 'https://hooks.slack.com/services/';
const BOTS = 'https://slack.com/api/chat.postMessage';

const slack: NotificationDestination<SlackConfig> = {
  schemes: ['slack'],
  example: 'slack://T_id/B_id/token/#channel',
  escapes: { '&': '&amp;', '<': '&lt;', '>': '&gt;' },
  native: url => url.hostname === 'hooks.slack.com' && NATIVE_PATH.test(url.pathname),

  parse(url) {
    const isNative = url.scheme !== 'slack';
    const [first = '', ...others] = isNative ? url.segments.slice(1) : [url.host, ...url.segments];
    const username = isNative ? undefined : url.user || undefined;
    if (BOT_TOKEN.test(first)) {
      if (others.length > 0) return { url: BOTS, token: first, username, channels: others.map(channelOf) };
      throw new Problem(400, 'The URL of a bot needs a channel at its end, such as #channel');
    }
    const parts = [first, ...others.slice(0, 2)];
    if (parts.length < 3 || !parts.every(part => PART.test(part))) {
      throw new Problem(
        400,
        'The URL needs the three parts of the webhook, slack://T_id/B_id/token, or a token of a bot',
      );
    }
    const named = others.slice(2).map(channelOf);
    const channels = named.length === 0 ? [undefined] : named;
    return { url: WEBHOOKS + parts.join('/'), token: undefined, username, channels };
  },

  send({ url, token, username, channels }, { title, body, text, color, format }, delivery) {
    const mrkdwn = format === 'markdown';
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const look = { color: `#${color.toString(16).padStart(6, '0')}`, mrkdwn_in: mrkdwn ? ['text'] : [] };
    const attachments = [{ title: title || undefined, text: body, ...look }];
    const content = token === undefined ? { text: title || body, attachments } : { text };
    return delivery.each(channels, async channel => {
      const answer = await delivery.request(url, { headers, json: { ...content, mrkdwn, channel, username } });
      return delivery.outcome(answer, { statuses: [200], isOk: token === undefined || answer.json.ok === true });
    });
  },
};

/** A name without `#` or `@` is a channel's; `+` marks an id, which is sent without a sign. */
function channelOf(name: string): string {
  if (name.startsWith('+')) return name.slice(1);
  return /^[#@]/.test(name) ? name : `#${name}`;
}

export default definePlugin({
  name: 'notify-slack',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'slack', slack),
});
