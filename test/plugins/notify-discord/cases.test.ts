// Discord: URLs, embeds and answers.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const HOOK = 'POST https://discord.com/api/webhooks';

holdDestination(t, await contributionOf('notify-discord', 'notifications.destination'), {
  cases: [
    {
      url: 'discord://123456/to-Ken_1',
      sends: {
        to: `${HOOK}/123456/to-Ken_1`,
        json: {
          username: undefined,
          embeds: [{ title: 'Title', description: 'Body', color: 0xc0392b }],
          allowed_mentions: { parse: [] },
        },
      },
    },
    { url: 'DISCORD://123456/tok/', sends: { to: `${HOOK}/123456/tok` } },
    { url: 'discord://bot@123456/tok', sends: { to: `${HOOK}/123456/tok`, json: { username: 'bot' } } },
    { url: 'discord://my%20b%40t@123456/tok', sends: { to: `${HOOK}/123456/tok`, json: { username: 'my b@t' } } },
    { url: 'discord://123456/tok?thread=987', sends: { to: `${HOOK}/123456/tok?thread_id=987` } },
    { url: 'discord://123456/tok?Thread=98%207&avatar=no', sends: { to: `${HOOK}/123456/tok?thread_id=98%207` } },
    { url: 'discord://123456/tok?thread=', sends: { to: `${HOOK}/123456/tok` } },
    { url: 'discord://1234%35%36/t%6Fk', sends: { to: `${HOOK}/123456/tok` } },
    { url: 'https://discord.com/api/webhooks/123456/tok', sends: { to: `${HOOK}/123456/tok` } },
    { url: 'https://discordapp.com/api/webhooks/123456/tok', sends: { to: `${HOOK}/123456/tok` } },
    { url: 'https://canary.discord.com/api/v10/webhooks/123456/tok/', sends: { to: `${HOOK}/123456/tok` } },
    { url: 'HTTPS://Discord.com/api/webhooks/123456/tok?thread_id=5', sends: { to: `${HOOK}/123456/tok?thread_id=5` } },
    {
      url: 'discord://123456/tok',
      message: { title: '', severity: 'info' },
      sends: { to: `${HOOK}/123456/tok`, json: { embeds: [{ title: undefined, color: 0x3a8fd9 }] } },
    },
    {
      url: 'discord://123456/tok',
      message: { title: 'x'.repeat(300), body: 'y'.repeat(10_000), severity: 'success' },
      sends: {
        to: `${HOOK}/123456/tok`,
        json: { embeds: [{ title: `${'x'.repeat(253)}...`, description: `${'y'.repeat(4_093)}...`, color: 0x2e9e44 }] },
      },
    },
    {
      url: 'discord://123456/tok',
      message: { body: 'a_b *c* <@1> @everyone', severity: 'warning' },
      sends: {
        to: `${HOOK}/123456/tok`,
        json: { embeds: [{ description: 'a\\_b \\*c\\* \\<@\u200b1\\> @\u200beveryone', color: 0xe0a800 }] },
      },
    },
    {
      url: 'discord://123456/tok?format=markdown',
      message: { body: '*c*' },
      sends: { to: `${HOOK}/123456/tok`, json: { embeds: [{ description: '*c*' }] } },
    },
  ],
  refused: [
    { url: 'discord://', message: /number of the webhook/ },
    { url: 'discord://name/tok', message: /number of the webhook/ },
    { url: 'discord://123456', message: /token of the webhook/ },
    { url: 'discord://123456/', message: /token of the webhook/ },
    { url: 'discord://123456/to%2Fken', message: /token of the webhook/ },
    { url: 'discord://123456?thread=1', message: /token of the webhook/ },
  ],
  foreign: [
    'https://discord.com/channels/1/2',
    'https://discord.com.example/api/webhooks/1/a',
    'https://example/api/webhooks/1/a',
  ],
  accepts: [{ status: 204 }, { body: { id: '1' } }],
  refuses: [
    {
      status: 429,
      body: { message: 'You are being rate limited.', retry_after: 1.337 },
      error: /429: You are/,
      retryAfterSec: 1.337,
    },
    { status: 202, error: /HTTP 202/ },
    { status: 404, body: { message: 'Unknown Webhook', code: 10015 }, error: /404: Unknown Webhook/ },
  ],
  secret: {
    url: 'discord://bot@123456/s3cr3t-tOken-of-4-hook?thread=998877',
    parts: ['123456', 's3cr3t-tOken-of-4-hook', '998877'],
  },
});
