// Zulip: bots, organisations, streams and people.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'POST https://acme.zulipchat.com/api/v1/messages';
const AUTHORIZATION = `Basic ${btoa('alerts-bot@acme.zulipchat.com:kEy')}`;

holdDestination(t, await contributionOf('notify-zulip', 'notifications.destination'), {
  cases: [
    {
      url: 'zulip://alerts@acme/kEy',
      sends: {
        to: API,
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/x-www-form-urlencoded' },
        form: { type: 'stream', to: 'general', subject: 'Title', content: '```\nBody\n```' },
      },
    },
    { url: 'ZULIP://alerts-bot@acme/kEy/', sends: { to: API, headers: { authorization: AUTHORIZATION } } },
    { url: 'zulip://al%65rts@acme/k%45y', sends: { to: API, headers: { authorization: AUTHORIZATION } } },
    { url: 'zulip://alerts@chat.example.com/kEy', sends: { to: 'POST https://chat.example.com/api/v1/messages' } },
    { url: 'zulip://alerts@acme/kEy/media', sends: { to: API, form: { to: 'media' } } },
    { url: 'zulip://alerts@acme/kEy/#my%20media?x=y', sends: { to: API, form: { to: 'my media' } } },
    {
      url: 'zulip://alerts@acme/kEy/me@example.com',
      sends: {
        to: API,
        form: { type: 'private', to: 'me@example.com', subject: undefined, content: '```\nTitle\nBody\n```' },
      },
    },
    {
      url: 'zulip://alerts@acme/kEy/one/me%40example.com',
      sends: [
        { to: API, form: { type: 'stream', to: 'one' } },
        { to: API, form: { type: 'private', to: 'me@example.com' } },
      ],
    },
    {
      url: 'zulip://alerts@acme/kEy',
      message: { title: '', body: '@**all** ```x```' },
      sends: { to: API, form: { subject: 'Stackwarden', content: '````\n@**all** ```x```\n````' } },
    },
    {
      url: 'zulip://alerts@acme/kEy?format=markdown',
      message: { title: 't'.repeat(70), body: '*x*' },
      sends: { to: API, form: { subject: `${'t'.repeat(57)}...`, content: '*x*' } },
    },
  ],
  refused: [
    { url: 'zulip://', message: /needs a bot, an organisation/ },
    { url: 'zulip://acme/kEy', message: /needs a bot, an organisation/ },
    { url: 'zulip://alerts@/kEy', message: /needs a bot, an organisation/ },
    { url: 'zulip://alerts@acme', message: /needs a bot, an organisation/ },
    { url: 'zulip://al%20erts@acme/kEy', message: /needs a bot, an organisation/ },
    { url: 'zulip://alerts@ac%20me/kEy', message: /needs a bot, an organisation/ },
  ],
  accepts: [{ body: { result: 'success', msg: '', id: 1 } }],
  refuses: [
    {
      status: 400,
      body: { result: 'error', msg: 'Stream does not exist' },
      error: /^HTTP 400: Stream does not exist$/,
    },
    { body: { result: 'error', msg: 'Odd' }, error: /^HTTP 200: Odd$/ },
    {
      status: 429,
      body: { result: 'error', msg: 'API usage exceeded', 'retry-after': 28.7 },
      error: /^HTTP 429: API usage/,
      retryAfterSec: 28.7,
    },
  ],
  secret: { url: 'zulip://alerts@acme/s3cr3t-kEy-9/hush-stream', parts: ['s3cr3t-kEy-9', 'hush-stream'] },
});
