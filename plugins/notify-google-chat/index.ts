// Google Chat: each message goes through the webhook of a space.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface GoogleChatConfig {
  readonly url: string;
  /** Messages with the same key form one thread. */
  readonly threadKey: string | undefined;
}

const HOST = 'chat.googleapis.com';
const NATIVE_PATH = /^\/v1\/spaces\/([^/]+)\/messages\/?$/;
/** Word joiner: beside a character it prevents that this begins markup, which Google Chat cannot escape. */
const JOINER = '\u2060';

const googleChat: NotificationDestination<GoogleChatConfig> = {
  schemes: ['gchat'],
  example: 'gchat://space/key/token',
  limits: { text: 4_000 },
  escapes: {
    '<': `<${JOINER}`,
    '*': `${JOINER}*${JOINER}`,
    _: `${JOINER}_${JOINER}`,
    '~': `${JOINER}~${JOINER}`,
    '`': `${JOINER}\`${JOINER}`,
  },
  native: url => url.hostname === HOST && NATIVE_PATH.test(url.pathname),

  parse({ scheme, host, segments, query }) {
    const isNative = scheme !== 'gchat';
    const [space, key, token, thread] = isNative
      ? [segments[2], query.get('key'), query.get('token'), query.get('threadkey')]
      : [host, ...segments];
    if (!space || !key || !token) {
      throw new Problem(400, 'The URL needs the space, the key and the token of the webhook: gchat://space/key/token');
    }
    const members = new URLSearchParams({ key, token });
    if (thread) members.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
    return {
      url: `https://${HOST}/v1/spaces/${encodeURIComponent(space)}/messages?${members}`,
      threadKey: thread || undefined,
    };
  },

  async send({ url, threadKey }, { text }, delivery) {
    const thread = threadKey === undefined ? undefined : { threadKey };
    return delivery.outcome(await delivery.request(url, { json: { text, thread } }), { statuses: [200] });
  },
};

export default definePlugin({
  name: 'notify-google-chat',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'google-chat', googleChat),
});
