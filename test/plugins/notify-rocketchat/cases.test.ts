// Rocket.Chat: webhooks, users with tokens, and channels.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const HOOK = 'POST http://localhost/hooks/iD1/toKen2';
const API = 'POST http://localhost/api/v1/chat.postMessage';

holdDestination(t, await contributionOf('notify-rocketchat', 'notifications.destination'), {
  cases: [
    {
      url: 'rocket://iD1%2FtoKen2@localhost',
      sends: { to: HOOK, headers: { 'x-auth-token': undefined }, json: { text: 'Title\nBody', channel: undefined } },
    },
    { url: 'ROCKETS://iD1%2ftoKen2@localhost/', sends: { to: 'POST https://localhost/hooks/iD1/toKen2' } },
    { url: 'rocket://iD1%2FtoKen2@localhost:3000', sends: { to: 'POST http://localhost:3000/hooks/iD1/toKen2' } },
    { url: 'rocket://iD1%2FtoKen2@[::1]:3000', sends: { to: 'POST http://[::1]:3000/hooks/iD1/toKen2' } },
    { url: 'rocket://bot:iD1%2FtoKen2@localhost', sends: { to: HOOK } },
    { url: 'rocket://iD1%2FtoKen2@localhost/#general', sends: { to: HOOK, json: { channel: '#general' } } },
    { url: 'rocket://iD1%2FtoKen2@localhost/%40me?avatar=no', sends: { to: HOOK, json: { channel: '@me' } } },
    {
      url: 'rocket://iD1%2FtoKen2@localhost/#one/room',
      sends: [
        { to: HOOK, json: { channel: '#one' } },
        { to: HOOK, json: { channel: 'room' } },
      ],
    },
    {
      url: 'rocket://uSer:toKen@localhost/#general',
      sends: {
        to: API,
        headers: { 'x-user-id': 'uSer', 'x-auth-token': 'toKen' },
        json: { text: 'Title\nBody', channel: '#general' },
      },
    },
    {
      url: 'rockets://uSer:to%40Ken@localhost:8443/@me',
      sends: { to: 'POST https://localhost:8443/api/v1/chat.postMessage', headers: { 'x-auth-token': 'to@Ken' } },
    },
    {
      url: 'rocket://iD1%2FtoKen2@localhost',
      message: { title: '', body: '@all *x* [y]' },
      sends: { to: HOOK, json: { text: '@\u200ball \\*x\\* [y]' } },
    },
  ],
  refused: [
    { url: 'rocket://', message: /needs a webhook/ },
    { url: 'rocket://localhost', message: /needs a webhook/ },
    { url: 'rocket://user@localhost/#general', message: /needs a webhook/ },
    { url: 'rocket://user:token@localhost', message: /needs a channel/ },
    { url: 'rocket://iD1%2FtoKen2@', message: /names no host/ },
    { url: 'rocket://iD1%2FtoKen2@local%20host', message: /names no host/ },
  ],
  accepts: [{ body: { success: true } }],
  refuses: [
    { body: { success: false, error: 'invalid-channel' }, error: /^HTTP 200: invalid-channel$/ },
    {
      status: 401,
      body: { status: 'error', message: 'You must be logged in to do this.' },
      error: /^HTTP 401: You must be/,
    },
    {
      status: 429,
      headers: { 'x-ratelimit-reset': '1' },
      body: { success: false, error: 'slow down' },
      error: /^HTTP 429: slow/,
      retryAfterSec: 1,
    },
  ],
  secret: {
    url: 'rocket://uSerId9:s3cr3t-toKen@localhost/#hush-room',
    parts: ['uSerId9', 's3cr3t-toKen', 'hush-room'],
  },
});
