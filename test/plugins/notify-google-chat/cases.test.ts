// Google Chat: webhooks by their parts and by their own web addresses, and threads.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const SPACE = 'POST https://chat.googleapis.com/v1/spaces/SPA/messages?key=kEy&token=toK-1';
const REPLY = '&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD';

holdDestination(t, await contributionOf('notify-google-chat', 'notifications.destination'), {
  cases: [
    { url: 'gchat://SPA/kEy/toK-1', sends: { to: SPACE, json: { text: 'Title\nBody', thread: undefined } } },
    { url: 'GCHAT://SPA/kEy/toK-1/', sends: { to: SPACE } },
    { url: 'gchat://SPA/k%45y/toK%2D1?image=no', sends: { to: SPACE } },
    { url: 'gchat://SPA/k%2By/t%3D', sends: { to: SPACE.replace('kEy', 'k%2By').replace('toK-1', 't%3D') } },
    { url: 'gchat://SPA/kEy/toK-1/alerts', sends: { to: SPACE + REPLY, json: { thread: { threadKey: 'alerts' } } } },
    { url: 'https://chat.googleapis.com/v1/spaces/SPA/messages?key=kEy&token=toK-1', sends: { to: SPACE } },
    {
      url: 'https://chat.googleapis.com/v1/spaces/SPA/messages?token=toK%2D1&key=kEy&threadKey=a%20b',
      sends: { to: SPACE + REPLY, json: { thread: { threadKey: 'a b' } } },
    },
    {
      url: 'gchat://SPA/kEy/toK-1',
      message: { title: '', body: '<users/all> ok' },
      sends: { to: SPACE, json: { text: '<\u2060users/all> ok' } },
    },
    {
      url: 'gchat://SPA/kEy/toK-1',
      message: { title: '', body: 'z'.repeat(5_000) },
      sends: { to: SPACE, json: { text: `${'z'.repeat(3_997)}...` } },
    },
    {
      url: 'gchat://SPA/kEy/toK-1?format=markdown',
      message: { title: '', body: '*b*' },
      sends: { to: SPACE, json: { text: '*b*' } },
    },
  ],
  refused: [
    { url: 'gchat://', message: /space, the key and the token/ },
    { url: 'gchat://SPA', message: /space, the key and the token/ },
    { url: 'gchat://SPA/kEy', message: /space, the key and the token/ },
    { url: 'gchat:///kEy/toK', message: /space, the key and the token/ },
    { url: 'https://chat.googleapis.com/v1/spaces/SPA/messages?key=kEy', message: /space, the key and the token/ },
  ],
  foreign: ['https://chat.google.com/room/SPA', 'https://chat.googleapis.com/v1/spaces/SPA'],
  accepts: [{ body: { name: 'spaces/SPA/messages/1' } }],
  refuses: [
    {
      status: 400,
      body: { error: { code: 400, message: 'Invalid JSON', status: 'INVALID_ARGUMENT' } },
      error: /^HTTP 400: .*Invalid JSON/,
    },
    { status: 429, body: { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }, error: /^HTTP 429: .*RESOURCE/ },
  ],
  secret: {
    url: 'gchat://SPACE-77/kEy-s3cr3t/toKen-s3cr3t/hush-thread',
    parts: ['SPACE-77', 'kEy-s3cr3t', 'toKen-s3cr3t', 'hush-thread'],
  },
});
