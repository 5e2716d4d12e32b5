// Mattermost: places of servers, tokens, names and channels.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const HOOK = 'POST http://localhost/hooks/toKen1';

holdDestination(t, await contributionOf('notify-mattermost', 'notifications.destination'), {
  cases: [
    {
      url: 'mmost://localhost/toKen1',
      sends: { to: HOOK, json: { text: 'Title\nBody', username: undefined, channel: undefined } },
    },
    { url: 'mmosts://localhost/toKen1/', sends: { to: 'POST https://localhost/hooks/toKen1' } },
    { url: 'MMOSTS://localhost:8065/toKen1', sends: { to: 'POST https://localhost:8065/hooks/toKen1' } },
    { url: 'mmost://[::1]:8065/toKen1', sends: { to: 'POST http://[::1]:8065/hooks/toKen1' } },
    { url: 'mmost://localhost/a/b%20c/toKen1', sends: { to: 'POST http://localhost/a/b%20c/hooks/toKen1' } },
    { url: 'mmost://the%20bot@localhost/toKen1', sends: { to: HOOK, json: { username: 'the bot' } } },
    { url: 'mmost://localhost/toKen1?channel=town-square', sends: { to: HOOK, json: { channel: 'town-square' } } },
    { url: 'mmost://localhost/toKen1?Channel=%23town', sends: { to: HOOK, json: { channel: 'town' } } },
    { url: 'mmost://localhost/toKen1?channel=#town', sends: { to: HOOK, json: { channel: 'town' } } },
    {
      url: 'mmost://localhost/toKen1?channel=one,%20@two',
      sends: [
        { to: HOOK, json: { channel: 'one' } },
        { to: HOOK, json: { channel: '@two' } },
      ],
    },
    { url: 'mmost://localhost/toKen1?channel=&image=no', sends: { to: HOOK, json: { channel: undefined } } },
    {
      url: 'mmost://localhost/toKen1',
      message: { title: '', body: '@all *x*' },
      sends: { to: HOOK, json: { text: '@\u200ball \\*x\\*' } },
    },
    {
      url: 'mmost://localhost/toKen1',
      message: { title: '', body: 'z'.repeat(5_000) },
      sends: { to: HOOK, json: { text: `${'z'.repeat(3_997)}...` } },
    },
  ],
  refused: [
    { url: 'mmost://', message: /token of the webhook/ },
    { url: 'mmost://localhost', message: /token of the webhook/ },
    { url: 'mmost://localhost/to%20ken', message: /token of the webhook/ },
    { url: 'mmost:///toKen1', message: /names no host/ },
    { url: 'mmost://bot@/toKen1', message: /names no host/ },
  ],
  accepts: [{ body: 'ok' }],
  refuses: [
    { status: 400, body: { id: 'x', message: 'Invalid webhook.' }, error: /^HTTP 400: Invalid webhook\.$/ },
    { status: 429, headers: { 'x-ratelimit-reset': '3' }, error: /^HTTP 429/, retryAfterSec: 3 },
  ],
  secret: {
    url: 'mmost://localhost/hidden-path/s3cr3tToken?channel=hush-room',
    parts: ['hidden-path', 's3cr3tToken', 'hush-room'],
  },
});
