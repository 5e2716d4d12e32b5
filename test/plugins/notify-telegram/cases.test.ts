// Telegram: tokens, chats with topics, and the answers of its interface for bots.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const BOT = 'POST https://api.telegram.org/bot12345:aB-c_d/sendMessage';

holdDestination(t, await contributionOf('notify-telegram', 'notifications.destination'), {
  cases: [
    {
      url: 'tgram://12345:aB-c_d/67890',
      sends: {
        to: BOT,
        json: {
          chat_id: 67_890,
          text: 'Title\nBody',
          message_thread_id: undefined,
          parse_mode: undefined,
          disable_notification: false,
          link_preview_options: { is_disabled: true },
        },
      },
    },
    { url: 'TGRAM://12345:aB-c_d/67890/', sends: { to: BOT } },
    { url: 'tgram://bot12345:aB-c_d/67890', sends: { to: BOT } },
    { url: 'tgram://12345%3AaB-c_d/67890', sends: { to: BOT } },
    { url: 'tgram://12345%3aaB-c_d/67890', sends: { to: BOT } },
    { url: 'tgram://12345:aB-c_d/-1001234567890', sends: { to: BOT, json: { chat_id: -1_001_234_567_890 } } },
    { url: 'tgram://12345:aB-c_d/@channel_1', sends: { to: BOT, json: { chat_id: '@channel_1' } } },
    { url: 'tgram://12345:aB-c_d/%40channel', sends: { to: BOT, json: { chat_id: '@channel' } } },
    { url: 'tgram://12345:aB-c_d/channel', sends: { to: BOT, json: { chat_id: '@channel' } } },
    { url: 'tgram://12345:aB-c_d/-100123:45', sends: { to: BOT, json: { chat_id: -100_123, message_thread_id: 45 } } },
    { url: 'tgram://12345:aB-c_d/-100123%3A45', sends: { to: BOT, json: { message_thread_id: 45 } } },
    { url: 'tgram://12345:aB-c_d/1?topic=7', sends: { to: BOT, json: { chat_id: 1, message_thread_id: 7 } } },
    { url: 'tgram://12345:aB-c_d/1?Silent=Yes', sends: { to: BOT, json: { disable_notification: true } } },
    { url: 'tgram://12345:aB-c_d/1?silent=no&image=yes', sends: { to: BOT, json: { disable_notification: false } } },
    {
      url: 'tgram://12345:aB-c_d/1:2/@three/four:5?topic=6',
      sends: [
        { to: BOT, json: { chat_id: 1, message_thread_id: 2 } },
        { to: BOT, json: { chat_id: '@three', message_thread_id: 6 } },
        { to: BOT, json: { chat_id: '@four', message_thread_id: 5 } },
      ],
    },
    { url: 'tgram://12345:aB-c_d/1?format=html', sends: { to: BOT, json: { parse_mode: 'HTML' } } },
    { url: 'tgram://12345:aB-c_d/1?format=Markdown', sends: { to: BOT, json: { parse_mode: 'Markdown' } } },
    {
      url: 'tgram://12345:aB-c_d/1',
      message: { title: '', body: 'z'.repeat(5_000) },
      sends: { to: BOT, json: { text: `${'z'.repeat(4_093)}...` } },
    },
    {
      url: 'tgram://12345:aB-c_d/1?overflow=split',
      message: { body: 'z'.repeat(5_000) },
      sends: [
        { to: BOT, json: { text: `Title\n${'z'.repeat(4_090)}` } },
        { to: BOT, json: { text: `Title\n${'z'.repeat(910)}` } },
      ],
    },
  ],
  refused: [
    { url: 'tgram://', message: /token as its host/ },
    { url: 'tgram://12345/67890', message: /token as its host/ },
    { url: 'tgram://name:key/67890', message: /token as its host/ },
    { url: 'tgram:///67890', message: /token as its host/ },
    { url: 'tgram://12345:aB-c_d', message: /needs a chat/ },
    { url: 'tgram://12345:aB-c_d/', message: /needs a chat/ },
    { url: 'tgram://12345:aB-c_d/?silent=yes', message: /needs a chat/ },
    { url: 'tgram://12345:aB-c_d/a%20b', message: /A chat is a number or a name/ },
    { url: 'tgram://12345:aB-c_d/1:two', message: /A chat is a number or a name/ },
    { url: 'tgram://12345:aB-c_d/1?topic=two', message: /topic of a chat is a number/ },
  ],
  accepts: [{ body: { ok: true, result: {} } }],
  refuses: [
    { body: { ok: false, description: 'chat not found' }, error: /^HTTP 200: chat not found$/ },
    { status: 403, body: { ok: false, description: 'Forbidden: bot was blocked' }, error: /^HTTP 403: Forbidden/ },
    { status: 429, body: { ok: false, parameters: { retry_after: 35 } }, error: /^HTTP 429/, retryAfterSec: 35 },
    { body: 'ok', error: /^HTTP 200: ok$/ },
  ],
  secret: {
    url: 'tgram://12345:s3cr3t-kEy-0f-b0t/-1009876543',
    parts: ['12345:s3cr3t-kEy-0f-b0t', 's3cr3t-kEy-0f-b0t', '-1009876543'],
  },
});
