// Telegram: a bot sends each message to every chat of the URL, as plain text unless the URL asks for markup.
import { definePlugin, Problem } from '#core';
import type { MessageFormat, NotificationDestination } from '../notifications/contract.ts';

interface Chat {
  readonly id: string | number;
  readonly topic: number | undefined;
}

interface TelegramConfig {
  readonly token: string;
  readonly chats: readonly Chat[];
  readonly isSilent: boolean;
}

const TOKEN = /^(?:bot)?(\d+:[\w-]+)$/i;
const CHAT = /^(@?[a-z]\w*|-?\d+)(?::(\d+))?$/i;
const PARSE_MODES: Readonly<Record<MessageFormat, string | undefined>> = {
  text: undefined,
  markdown: 'Markdown',
  html: 'HTML',
};

const telegram: NotificationDestination<TelegramConfig> = {
  schemes: ['tgram'],
  example: 'tgram://bot_id:bot_key/chat_id',
  limits: { text: 4_096 },

  parse({ authority, segments, query }) {
    const [, token] = TOKEN.exec(authority) ?? [];
    if (token === undefined) {
      throw new Problem(400, "The URL needs the bot's token as its host: tgram://bot_id:bot_key/chat_id");
    }
    if (segments.length === 0)
      throw new Problem(400, 'The URL needs a chat at its end: a number, or a name that begins with @');
    const topic = query.get('topic') ?? query.get('thread');
    return {
      token,
      chats: segments.map(segment => chatOf(segment, topic)),
      isSilent: /^(?:y|t|1|on)/i.test(query.get('silent') ?? ''),
    };
  },

  send: ({ token, chats, isSilent }, { text, format }, delivery) =>
    delivery.each(chats, async ({ id, topic }) => {
      const answer = await delivery.request(`https://api.telegram.org/bot${token}/sendMessage`, {
        json: {
          chat_id: id,
          text,
          message_thread_id: topic,
          parse_mode: PARSE_MODES[format],
          disable_notification: isSilent,
          link_preview_options: { is_disabled: true },
        },
      });
      const { retry_after: retryAfterSec } = (answer.json.parameters ?? {}) as { readonly retry_after?: unknown };
      return delivery.outcome(answer, { statuses: [200], isOk: answer.json.ok === true, retryAfterSec });
    }),
};

/** A chat is a number, or a name with or without `@`. `topic` is used if the chat has none of its own. */
function chatOf(segment: string, topic: string | undefined): Chat {
  const [, name = '', own = topic] = CHAT.exec(segment) ?? [];
  if (name === '') throw new Problem(400, 'A chat is a number or a name such as @channel, and perhaps :topic after it');
  if (own !== undefined && !/^\d+$/.test(own)) throw new Problem(400, 'The topic of a chat is a number');
  const id = /^-?\d+$/.test(name) ? Number(name) : name.startsWith('@') ? name : `@${name}`;
  return { id, topic: own === undefined ? undefined : Number(own) };
}

export default definePlugin({
  name: 'notify-telegram',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'telegram', telegram),
});
