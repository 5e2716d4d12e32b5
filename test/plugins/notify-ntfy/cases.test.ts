// ntfy: topics of the public and of own servers, logins and tokens, and priorities.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const CLOUD = 'POST https://ntfy.sh/';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

holdDestination(t, await contributionOf('notify-ntfy', 'notifications.destination'), {
  cases: [
    {
      url: 'ntfy://topic',
      sends: {
        to: CLOUD,
        headers: { authorization: undefined },
        json: {
          topic: 'topic',
          title: 'Title',
          message: 'Body',
          priority: 5,
          tags: undefined,
          click: undefined,
          markdown: undefined,
        },
      },
    },
    { url: 'NTFYS://My-Topic_1/', sends: { to: CLOUD, json: { topic: 'My-Topic_1' } } },
    { url: 'ntfys://ntfy.sh/topic', sends: { to: CLOUD, json: { topic: 'topic' } } },
    { url: 'https://ntfy.sh/topic', sends: { to: CLOUD, json: { topic: 'topic' } } },
    { url: 'https://ntfy.sh/topic?priority=low', sends: { to: CLOUD, json: { topic: 'topic', priority: 2 } } },
    {
      url: 'ntfy://one_topic/two',
      sends: [
        { to: CLOUD, json: { topic: 'one_topic' } },
        { to: CLOUD, json: { topic: 'two' } },
      ],
    },
    {
      url: 'ntfy://one/two?mode=cloud',
      sends: [
        { to: CLOUD, json: { topic: 'one' } },
        { to: CLOUD, json: { topic: 'two' } },
      ],
    },
    { url: 'ntfy://localhost/topic', sends: { to: 'POST http://localhost/', json: { topic: 'topic' } } },
    { url: 'ntfys://ntfy.example/topic', sends: { to: 'POST https://ntfy.example/' } },
    { url: 'ntfy://Host.Example:8080/topic', sends: { to: 'POST http://Host.Example:8080/' } },
    { url: 'ntfy://192.0.2.7/topic', sends: { to: 'POST http://192.0.2.7/' } },
    { url: 'ntfys://[2001:db8::1]:8443/topic', sends: { to: 'POST https://[2001:db8::1]:8443/' } },
    { url: 'ntfy://my_host/topic?mode=PRIVATE', sends: { to: 'POST http://my_host/', json: { topic: 'topic' } } },
    {
      url: 'ntfy://localhost/one/two',
      sends: [
        { to: 'POST http://localhost/', json: { topic: 'one' } },
        { to: 'POST http://localhost/', json: { topic: 'two' } },
      ],
    },
    {
      url: 'ntfy://us%40er:p%3A%2Fw@localhost/topic',
      sends: { to: 'POST http://localhost/', headers: { authorization: basic('us@er:p:/w') } },
    },
    {
      url: 'ntfy://user@localhost/topic',
      sends: { to: 'POST http://localhost/', headers: { authorization: basic('user:') } },
    },
    {
      url: 'ntfy://tk_abc@localhost/topic',
      sends: { to: 'POST http://localhost/', headers: { authorization: 'Bearer tk_abc' } },
    },
    { url: 'ntfys://tk_abc@topic', sends: { to: CLOUD, headers: { authorization: 'Bearer tk_abc' } } },
    {
      url: 'ntfy://tk_abc:pass@localhost/topic',
      sends: { to: 'POST http://localhost/', headers: { authorization: basic('tk_abc:pass') } },
    },
    {
      url: 'ntfy://abc@localhost/topic?auth=token',
      sends: { to: 'POST http://localhost/', headers: { authorization: 'Bearer abc' } },
    },
    {
      url: 'ntfy://localhost/topic?token=tk%5Fabc',
      sends: { to: 'POST http://localhost/', headers: { authorization: 'Bearer tk_abc' } },
    },
    {
      url: 'ntfy://topic?priority=URGENT&tags=a,%20b&click=https%3A%2F%2Fx%2F%3Fy%3D1',
      sends: { to: CLOUD, json: { priority: 5, tags: ['a', 'b'], click: 'https://x/?y=1' } },
    },
    { url: 'ntfy://topic?priority=max', sends: { to: CLOUD, json: { priority: 5 } } },
    { url: 'ntfy://topic?priority=1', sends: { to: CLOUD, json: { priority: 1 } } },
    {
      url: 'ntfy://topic',
      message: { severity: 'info', title: '' },
      sends: { to: CLOUD, json: { priority: 2, title: undefined } },
    },
    { url: 'ntfy://topic', message: { severity: 'success' }, sends: { to: CLOUD, json: { priority: 3 } } },
    { url: 'ntfy://topic', message: { severity: 'warning' }, sends: { to: CLOUD, json: { priority: 4 } } },
    { url: 'ntfy://topic', message: { body: '' }, sends: { to: CLOUD, json: { message: 'Title' } } },
    { url: 'ntfy://topic?format=markdown', sends: { to: CLOUD, json: { markdown: true } } },
    {
      url: 'ntfy://topic',
      message: { body: 'ü'.repeat(3_000) },
      sends: { to: CLOUD, json: { message: `${'ü'.repeat(2_046)}...` } },
    },
  ],
  refused: [
    { url: 'ntfy://', message: /needs a topic/ },
    { url: 'ntfys:///', message: /needs a topic/ },
    { url: 'ntfys://ntfy.sh', message: /needs a topic/ },
    { url: 'ntfys://localhost:8080', message: /needs a topic/ },
    { url: 'ntfy://localhost?mode=private', message: /needs a topic/ },
    { url: 'ntfy://localhost/a%20b', message: /needs a topic/ },
    { url: `ntfy://localhost/${'a'.repeat(65)}`, message: /needs a topic/ },
    { url: 'ntfy://-host-/topic', message: /names no host/ },
    { url: 'ntfy://topic?priority=6', message: /priority is a number from 1 to 5/ },
    { url: 'ntfy://topic?priority=loud', message: /priority is a number from 1 to 5/ },
  ],
  foreign: ['https://ntfy.sh/', 'https://ntfy.example/topic'],
  accepts: [{ body: { id: 'x', event: 'message' } }],
  refuses: [
    { status: 403, body: { code: 40301, http: 403, error: 'forbidden' }, error: /^HTTP 403: forbidden$/ },
    {
      status: 429,
      headers: { 'retry-after': '60' },
      body: { code: 42901, error: 'limit reached' },
      error: /^HTTP 429: limit/,
      retryAfterSec: 60,
    },
  ],
  secret: {
    url: 'ntfy://owner:s3cr3t-w0rd@ntfy.example/private-topic-9?click=http%3A%2F%2Fx%2Fhush',
    parts: ['s3cr3t-w0rd', 'private-topic-9', basic('owner:s3cr3t-w0rd').slice(6)],
  },
});
