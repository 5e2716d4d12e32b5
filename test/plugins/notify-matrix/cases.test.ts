// Matrix: users and tokens, rooms by alias and id, and logins that are kept, expire and are made anew.
import t from 'tap';
import type { NotificationDestination } from '../../../plugins/notifications/contract.ts';
import { type DestinationTable, deliver, holdDestination } from '../../contracts/notification-destination.ts';
import type { Received, Reply } from '../../contracts/receiver.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'http://localhost/_matrix/client/v3';
const LOGIN = {
  to: `POST ${API}/login`,
  json: { type: 'm.login.password', identifier: { type: 'm.id.user', user: 'me' }, password: 'pass' },
};
const join = (room: string, base = API) => ({ to: `POST ${base}/join/${encodeURIComponent(room)}` });
const SEND = {
  to: `PUT ${API}/rooms/!id%3Ahome/send/m.room.message/delivery-1`,
  json: { msgtype: 'm.text', body: 'Title\nBody' },
};
const NEWER = `!${'a'.repeat(43)}`;

function server({ path }: Received): Reply {
  if (path.endsWith('/login')) return { body: { access_token: 'toKen', user_id: '@me:home.example' } };
  return { body: path.includes('/join/') ? { room_id: '!id:home' } : { event_id: '$1' } };
}

const table: DestinationTable = {
  cases: [
    { url: 'matrix://me:pass@localhost/#room', sends: [LOGIN, join('#room:home.example'), SEND] },
    {
      url: 'matrix://me:pass@localhost/#room',
      sends: [{ ...join('#room:home.example'), headers: { authorization: 'Bearer toKen' } }, SEND],
    },
    {
      url: 'MATRIXS://toKen@localhost/#room',
      sends: [
        join('#room:localhost', API.replace('http:', 'https:')),
        { ...SEND, to: SEND.to.replace('http:', 'https:') },
      ],
    },
    {
      url: 'matrix://to%2FKen@localhost/!room',
      sends: [{ ...join('!room:localhost'), headers: { authorization: 'Bearer to/Ken' } }, SEND],
    },
    { url: 'matrix://toKen@localhost/room/', sends: [join('#room:localhost'), SEND] },
    { url: 'matrix://toKen@localhost/%23room%3Aelsewhere', sends: [join('#room:elsewhere'), SEND] },
    { url: 'matrix://toKen@localhost/!room:elsewhere', sends: [join('!room:elsewhere'), SEND] },
    { url: `matrix://toKen@localhost/${NEWER}`, sends: [join(NEWER), SEND] },
    {
      url: 'matrix://toKen@localhost/#one/!two?image=no',
      sends: [join('#one:localhost'), SEND, join('!two:localhost'), SEND],
    },
    {
      url: 'matrix://toKen@localhost:8008/#room',
      sends: [
        join('#room:localhost', API.replace('localhost', 'localhost:8008')),
        { ...SEND, to: SEND.to.replace('localhost', 'localhost:8008') },
      ],
    },
    {
      url: 'matrix://toKen@[::1]/!room:x',
      sends: [
        join('!room:x', API.replace('localhost', '[::1]')),
        { ...SEND, to: SEND.to.replace('localhost', '[::1]') },
      ],
    },
    {
      url: 'matrix://toKen@localhost/#room',
      message: { title: '' },
      sends: [join('#room:localhost'), { ...SEND, json: { body: 'Body' } }],
    },
  ],
  refused: [
    { url: 'matrix://', message: /user and password, .*or an access token/ },
    { url: 'matrix://localhost/#room', message: /user and password, .*or an access token/ },
    { url: 'matrix://:pass@localhost/#room', message: /user and password, .*or an access token/ },
    { url: 'matrix://toKen@localhost', message: /needs a room/ },
    { url: 'matrix://me:pass@localhost/?x=y', message: /needs a room/ },
    { url: 'matrix://toKen@/#room', message: /names no host/ },
    { url: 'matrix://toKen@local%2Fhost/#room', message: /names no host/ },
  ],
  accepts: [server],
  refuses: [
    {
      status: 403,
      body: { errcode: 'M_FORBIDDEN', error: 'Invalid username or password' },
      error: /^HTTP 403: Invalid username/,
    },
    {
      status: 429,
      body: { errcode: 'M_LIMIT_EXCEEDED', error: 'Too Many Requests', retry_after_ms: 2_500 },
      error: /^HTTP 429: Too/,
      retryAfterSec: 2.5,
    },
    { body: { odd: true }, error: /^HTTP 200/ },
  ],
  secret: { url: 'matrix://owner:s3cr3t-w0rd@localhost/#hush-room', parts: ['s3cr3t-w0rd', 'hush-room'] },
};

const matrix = await contributionOf<NotificationDestination>('notify-matrix', 'notifications.destination');

holdDestination(t, matrix, table);

t.test('a login that has expired is made anew, once', async t => {
  const tokens = ['first', 'second', 'third'];
  const valid = new Set(['first']);
  const answers = (request: Received): Reply => {
    if (request.path.endsWith('/login')) return { body: { access_token: tokens.shift(), user_id: '@me:home' } };
    const [, token = ''] = (request.headers.authorization ?? '').split(' ');
    return valid.has(token)
      ? server(request)
      : { status: 401, body: { error: `Unknown ${token}`, errcode: 'M_UNKNOWN_TOKEN' } };
  };
  const paths = async () => {
    const { outcome, requests } = await deliver(matrix, 'matrix://me:word@localhost/#room', answers);
    return [outcome, requests.map(({ path }) => path.slice('/_matrix/client/v3/'.length).split('/', 1)[0])];
  };
  t.same(await paths(), [{ ok: true }, ['login', 'join', 'rooms']]);
  t.same(await paths(), [{ ok: true }, ['join', 'rooms']]);
  valid.delete('first');
  valid.add('second');
  t.same(await paths(), [{ ok: true }, ['join', 'login', 'join', 'rooms']]);
  valid.clear();
  const [outcome, asked] = await paths();
  t.same(asked, ['join', 'login', 'join'], 'a new login that is refused is not tried again');
  t.match(outcome, { ok: false, error: 'HTTP 401: Unknown [redacted]' }, 'its token is told to nobody');
});
