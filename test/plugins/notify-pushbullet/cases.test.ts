// Pushbullet: an account, and its devices, people and channels.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'POST https://api.pushbullet.com/v2/pushes';

holdDestination(t, await contributionOf('notify-pushbullet', 'notifications.destination'), {
  cases: [
    {
      url: 'pbul://o.toKen',
      sends: {
        to: API,
        headers: { 'access-token': 'o.toKen' },
        json: {
          type: 'note',
          title: 'Title',
          body: 'Body',
          device_iden: undefined,
          email: undefined,
          channel_tag: undefined,
        },
      },
    },
    { url: 'PBUL://o.toKen/', sends: { to: API, headers: { 'access-token': 'o.toKen' } } },
    { url: 'pbul://o%2EtoKen', sends: { to: API, headers: { 'access-token': 'o.toKen' } } },
    { url: 'pbul://token/deViceId', sends: { to: API, json: { device_iden: 'deViceId' } } },
    { url: 'pbul://token/me@example.com', sends: { to: API, json: { email: 'me@example.com' } } },
    { url: 'pbul://token/me%40example.com/', sends: { to: API, json: { email: 'me@example.com' } } },
    { url: 'pbul://token/#channel', sends: { to: API, json: { channel_tag: 'channel' } } },
    { url: 'pbul://token/%23channel?x=y', sends: { to: API, json: { channel_tag: 'channel' } } },
    {
      url: 'pbul://token/one/#two/three@example.com',
      sends: [
        { to: API, json: { device_iden: 'one' } },
        { to: API, json: { channel_tag: 'two' } },
        { to: API, json: { email: 'three@example.com' } },
      ],
    },
    { url: 'pbul://token', message: { title: '' }, sends: { to: API, json: { title: undefined, body: 'Body' } } },
  ],
  refused: [
    { url: 'pbul://', message: /access token as its host/ },
    { url: 'pbul:///device', message: /access token as its host/ },
    { url: 'pbul://to%20ken', message: /access token as its host/ },
    { url: 'pbul://?token=x', message: /access token as its host/ },
  ],
  accepts: [{ body: { iden: 'x', active: true } }],
  refuses: [
    { status: 401, body: { error: { message: 'Access token is missing or invalid.' } }, error: /^HTTP 401: .*invalid/ },
    { status: 429, headers: { 'x-ratelimit-reset': '120' }, error: /^HTTP 429/, retryAfterSec: 120 },
  ],
  secret: {
    url: 'pbul://o.s3cr3t-toKen-4/me@example.com/dev1ce-id',
    parts: ['o.s3cr3t-toKen-4', 'me@example.com', 'dev1ce-id'],
  },
});
