// Slack: URLs of webhooks and bots, channels, and answers of both interfaces.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const HOOK = 'POST https://hooks.slack.com/services/T1/B2/c3';
const BOT = 'POST https://slack.com/api/chat.postMessage';

holdDestination(t, await contributionOf('notify-slack', 'notifications.destination'), {
  cases: [
    {
      url: 'slack://T1/B2/c3',
      sends: {
        to: HOOK,
        headers: { authorization: undefined },
        json: {
          text: 'Title',
          channel: undefined,
          username: undefined,
          attachments: [{ color: '#c0392b', title: 'Title', text: 'Body' }],
        },
      },
    },
    { url: 'SLACK://T1/B2/c3/', sends: { to: HOOK } },
    { url: 'slack://bot@T1/B2/c3', sends: { to: HOOK, json: { username: 'bot' } } },
    {
      url: 'slack://the%20bot@T1/B2/c3/#general',
      sends: { to: HOOK, json: { username: 'the bot', channel: '#general' } },
    },
    { url: 'slack://T1/B2/c3/%23general', sends: { to: HOOK, json: { channel: '#general' } } },
    { url: 'slack://T1/B2/c3/general', sends: { to: HOOK, json: { channel: '#general' } } },
    { url: 'slack://T1/B2/c3/@someone', sends: { to: HOOK, json: { channel: '@someone' } } },
    { url: 'slack://T1/B2/c3/+C024BE91L', sends: { to: HOOK, json: { channel: 'C024BE91L' } } },
    {
      url: 'slack://T1/B2/c3/#one/#two?image=no',
      sends: [
        { to: HOOK, json: { channel: '#one' } },
        { to: HOOK, json: { channel: '#two' } },
      ],
    },
    { url: 'https://hooks.slack.com/services/T1/B2/c3', sends: { to: HOOK, json: { channel: undefined } } },
    { url: 'https://hooks.slack.com/services/T1/B2/c3/', sends: { to: HOOK } },
    {
      url: 'slack://xoxb-1-2-aB/#general',
      sends: {
        to: BOT,
        headers: { authorization: 'Bearer xoxb-1-2-aB' },
        json: { channel: '#general', text: 'Title\nBody', mrkdwn: false, username: undefined },
      },
    },
    {
      url: 'slack://bot@xoxp-1-2-aB/#general/@someone/+C1/plain',
      sends: ['#general', '@someone', 'C1', '#plain'].map(channel => ({ to: BOT, json: { channel, username: 'bot' } })),
    },
    {
      url: 'slack://xoxb-1/#general',
      message: { title: '', body: '<!channel> a & b' },
      sends: { to: BOT, json: { text: '&lt;!channel&gt; a &amp; b' } },
    },
    {
      url: 'slack://T1/B2/c3?format=markdown',
      message: { title: '', body: '<http://a|b> *c*', severity: 'warning' },
      sends: {
        to: HOOK,
        json: {
          mrkdwn: true,
          text: '<http://a|b> *c*',
          attachments: [{ color: '#e0a800', title: undefined, mrkdwn_in: ['text'] }],
        },
      },
    },
  ],
  refused: [
    { url: 'slack://', message: /three parts of the webhook/ },
    { url: 'slack://T1', message: /three parts of the webhook/ },
    { url: 'slack://T1/B2', message: /three parts of the webhook/ },
    { url: 'slack://T1/B2/c%2F3', message: /three parts of the webhook/ },
    { url: 'slack:///T1/B2/c3', message: /three parts of the webhook/ },
    { url: 'slack://xoxb-1-2-aB', message: /needs a channel/ },
    { url: 'slack://xoxb-1-2-aB/?x=1', message: /needs a channel/ },
  ],
  foreign: [
    'https://slack.com/services/T/B/c',
    'https://hooks.slack.com/services/T/B',
    'https://hooks.slack.com/workflows/T/B/c',
  ],
  accepts: [{ body: { ok: true } }],
  refuses: [
    { body: { ok: false, error: 'channel_not_found' }, error: /^HTTP 200: channel_not_found$/ },
    { body: 'ok', error: /^HTTP 200: ok$/ },
    {
      status: 429,
      headers: { 'retry-after': '30' },
      body: { ok: false, error: 'ratelimited' },
      error: /ratelimited/,
      retryAfterSec: 30,
    },
  ],
  secret: {
    url: 'slack://bot@xoxb-1234-5678-s3cr3tOf4/#private-room',
    parts: ['xoxb-1234-5678-s3cr3tOf4', 'private-room'],
  },
});
