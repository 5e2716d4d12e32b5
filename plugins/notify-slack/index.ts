// Slack: each message goes to a webhook, or to every channel that a bot is told.
import { definePlugin, Problem } from '#core';
import type { Delivery, DeliveryOutcome, Message, NotificationDestination } from '../notifications/contract.ts';

interface SlackConfig {
  /** The three parts of the webhook's path; undefined for a bot. */
  readonly webhook: string | undefined;
  /** Of the bot. */
  readonly token: string;
  readonly username: string | undefined;
  /** One undefined member stands for the webhook's own channel. */
  readonly channels: readonly (string | undefined)[];
}

const NATIVE_PATH = /^\/services\/[^/]+\/[^/]+\/[^/]+\/?$/;
const BOT_TOKEN = /^xox[a-z]-[\w.-]+$/i;
const PART = /^\w+$/;

const slack: NotificationDestination<SlackConfig> = {
  schemes: ['slack'],
  example: 'slack://T000/B000/token/#channel',
  escapes: { '&': '&amp;', '<': '&lt;', '>': '&gt;' },
  native: url => url.hostname === 'hooks.slack.com' && NATIVE_PATH.test(url.pathname),

  parse(url) {
    const isNative = url.scheme !== 'slack';
    const [first = '', ...others] = isNative ? url.segments.slice(1) : [url.host, ...url.segments];
    const username = isNative ? undefined : url.user || undefined;
    if (BOT_TOKEN.test(first)) {
      if (others.length > 0) return { webhook: undefined, token: first, username, channels: others.map(channelOf) };
      throw new Problem(400, 'The URL of a bot needs a channel after its token: slack://token/#channel');
    }
    const parts = [first, ...others.slice(0, 2)];
    if (parts.length < 3 || !parts.every(part => PART.test(part))) {
      throw new Problem(
        400,
        'The URL needs the three parts of the webhook: slack://T000/B000/token, or a token of a bot',
      );
    }
    const named = others.slice(2).map(channelOf);
    return { webhook: parts.join('/'), token: '', username, channels: named.length === 0 ? [undefined] : named };
  },

  send: (config, message, delivery) =>
    delivery.each(config.channels, channel => post(config, channel, message, delivery)),
};

/** A name without a sign is that of a channel; after `+` stands an id, which has no sign. */
function channelOf(name: string): string {
  if (name.startsWith('+')) return name.slice(1);
  return /^[#@]/.test(name) ? name : `#${name}`;
}

async function post(
  { webhook, token, username }: SlackConfig,
  channel: string | undefined,
  { title, body, text, color, format }: Message,
  delivery: Delivery,
): Promise<DeliveryOutcome> {
  const mrkdwn = format === 'markdown';
  if (webhook !== undefined) {
    const attachment = { color: `#${color.toString(16).padStart(6, '0')}`, title: title || undefined, text: body };
    const json = {
      text: title || body,
      mrkdwn,
      channel,
      username,
      attachments: [{ ...attachment, mrkdwn_in: mrkdwn ? ['text'] : [] }],
    };
    return delivery.outcome(await delivery.request(`https://hooks.slack.com/services/${webhook}`, { json }), {
      statuses: [200],
    });
  }
  const answer = await delivery.request('https://slack.com/api/chat.postMessage', {
    headers: { authorization: `Bearer ${token}` },
    json: { channel, text, mrkdwn, username },
  });
  return delivery.outcome(answer, { statuses: [200], isOk: answer.json.ok === true });
}

export default definePlugin({
  name: 'notify-slack',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'slack', slack),
});
