// Mail: its URLs, and a real server with and without encryption that fails in every way.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import t, { type Test } from 'tap';
import type { NotificationDestination } from '../../../plugins/notifications/contract.ts';
import { readUrl } from '../../../plugins/notifications/destination-url.ts';
import { deliver, holdUrls } from '../../contracts/notification-destination.ts';
import { unknownCertificate } from '../../contracts/unknown-certificate.ts';
import { contributionOf } from '../../support/templates.ts';

const smtp = await contributionOf<NotificationDestination>('notify-smtp', 'notifications.destination');
const at = (address: string, name = '') => ({ name, address });
const ME = at('me@example.com');

const CASES: readonly (readonly [url: string, config: object])[] = [
  [
    'mailto://me:pass@example.com',
    {
      host: 'example.com',
      port: 25,
      encryption: 'insecure',
      login: { user: 'me', pass: 'pass' },
      from: ME,
      to: [ME],
      cc: [],
      bcc: [],
      replyTo: [],
    },
  ],
  ['mailtos://me:pass@example.com', { port: 587, encryption: 'starttls' }],
  ['MAILTOS://me:pass@example.com/', { port: 587, encryption: 'starttls' }],
  ['mailto://me:pass@example.com:2525', { port: 2525, encryption: 'insecure' }],
  ['mailtos://me:pass@example.com?mode=ssl', { port: 465, encryption: 'ssl' }],
  ['mailto://me:pass@example.com?Mode=STARTTLS', { port: 587, encryption: 'starttls' }],
  ['mailtos://me:pass@example.com:2465?mode=ssl', { port: 2465, encryption: 'ssl' }],
  ['mailtos://me:pass@example.com?mode=insecure', { port: 25, encryption: 'insecure' }],
  ['mailtos://me@example.com', { login: undefined, from: ME }],
  [
    'mailtos://me%2Btag:p%40s%3As%2F@example.com',
    { login: { user: 'me+tag', pass: 'p@s:s/' }, from: at('me+tag@example.com') },
  ],
  [
    'mailtos://me%40example.com:pass@mx.example.net',
    { host: 'mx.example.net', login: { user: 'me@example.com' }, from: ME },
  ],
  ['mailtos://example.com?user=me&pass=p%26w', { login: { user: 'me', pass: 'p&w' }, from: ME }],
  ['mailtos://me:pass@example.com?smtp=mx.example.net', { host: 'mx.example.net', from: ME }],
  ['mailtos://me:pass@example.com/a@example.net/b%40example.net', { to: [at('a@example.net'), at('b@example.net')] }],
  [
    'mailtos://me:pass@example.com?to=a@example.net,%20B%20<b@example.net>',
    { to: [at('a@example.net'), at('b@example.net', 'B')] },
  ],
  ['mailtos://me:pass@example.com/a@example.net?to=b@example.net', { to: [at('a@example.net'), at('b@example.net')] }],
  [
    'mailtos://me:pass@example.com?cc=c@example.net;d@example.net&bcc=e@example.net&reply=f@example.net&image=no',
    {
      to: [ME],
      cc: [at('c@example.net'), at('d@example.net')],
      bcc: [at('e@example.net')],
      replyTo: [at('f@example.net')],
    },
  ],
  [
    'mailtos://me:pass@example.com?from=other@example.org',
    { from: at('other@example.org'), to: [at('other@example.org')] },
  ],
  ['mailtos://me:pass@example.com?from=The%20Host', { from: at('me@example.com', 'The Host') }],
  ['mailtos://me:pass@example.com?from=The%20Host%20%3Cx@example.org%3E', { from: at('x@example.org', 'The Host') }],
  ['mailtos://me:pass@example.com?name=H%C3%B6st', { from: at('me@example.com', 'Höst') }],
  ['mailto://localhost?from=me@example.com', { host: 'localhost', login: undefined, from: ME, to: [ME] }],
  ['mailto://[::1]:2525/you@example.net?from=me@example.com', { host: '::1', port: 2525 }],
  ['mailto://192.0.2.9/you@example.net?from=me@example.com', { host: '192.0.2.9' }],
  [
    'mailto://me:pass@GMail.com',
    { host: 'smtp.gmail.com', port: 587, encryption: 'starttls', login: { user: 'me@GMail.com' } },
  ],
  ['mailto://me:pass@googlemail.com', { host: 'smtp.gmail.com', port: 587, encryption: 'starttls' }],
  [
    'mailtos://me:pass@yahoo.com',
    { host: 'smtp.mail.yahoo.com', port: 465, encryption: 'ssl', login: { user: 'me@yahoo.com' } },
  ],
  ['mailtos://me:pass@yahoo.co.uk', { host: 'smtp.mail.yahoo.com', from: at('me@yahoo.co.uk') }],
  ['mailtos://me:pass@outlook.com', { host: 'smtp-mail.outlook.com', port: 587, encryption: 'starttls' }],
  ['mailtos://me:pass@hotmail.fr', { host: 'smtp-mail.outlook.com' }],
  ['mailtos://me:pass@live.com', { host: 'smtp-mail.outlook.com' }],
  ['mailtos://me:pass@office365.com', { host: 'smtp.office365.com', port: 587 }],
  ['mailtos://me:pass@fastmail.com', { host: 'smtp.fastmail.com', port: 465, encryption: 'ssl' }],
  ['mailtos://me:pass@zoho.com', { host: 'smtp.zoho.com', port: 587 }],
  ['mailtos://me:pass@gmx.net', { host: 'mail.gmx.com', port: 587 }],
  ['mailtos://me:pass@yandex.ru', { host: 'smtp.yandex.ru', port: 465, encryption: 'ssl' }],
  ['mailtos://me:pass@qq.com', { host: 'smtp.qq.com', port: 587 }],
  ['mailtos://me:pass@163.com', { host: 'smtp.163.com', port: 465, encryption: 'ssl' }],
  ['mailtos://me:pass@notgmail.com', { host: 'notgmail.com', port: 587, login: { user: 'me' } }],
  ['mailtos://me:pass@gmail.com?smtp=localhost', { host: 'localhost', login: { user: 'me' } }],
  ['mailtos://me:pass@gmail.com?mode=ssl', { host: 'smtp.gmail.com', port: 465, encryption: 'ssl' }],
];

holdUrls(t, smtp, {
  urls: CASES.map(([url]) => url),
  refused: [
    { url: 'mailto://', message: /names no host/ },
    { url: 'mailtos://me:pass@', message: /names no host/ },
    { url: 'mailtos:///you@example.net', message: /names no host/ },
    { url: 'mailtos://example.com', message: /needs a sender/ },
    { url: 'mailtos://example.com?from=Somebody', message: /needs a sender/ },
    { url: 'mailtos://me:pass@example.com/you', message: /no mail address/ },
    { url: 'mailtos://me:pass@example.com?cc=you@', message: /no mail address/ },
    { url: 'mailtos://me:pass@example.com?from=a%0D%0ABcc:b@example.net', message: /no mail address/ },
    { url: 'mailtos://me:pass@example.com?to=a@example.net%0D%0Ab', message: /no mail address/ },
    { url: 'mailtos://me:pass@example.com?mode=tls', message: /mode is one of/ },
    { url: 'mailtos://me:pass@example.com?mode=constructor', message: /mode is one of/ },
  ],
});

t.test('URLs are parsed', async t => {
  for (const [url, config] of CASES) t.match(smtp.parse(readUrl(url, smtp.schemes)), config, url);
});

interface Mail {
  readonly recipients: readonly string[];
  readonly text: string;
  readonly isSecure: boolean;
}

interface MailServer {
  readonly place: string;
  readonly mails: Mail[];
  /** Method, user and password of each attempted login. */
  readonly logins: string[][];
}

const PASSWORD = 's3cr3t-w0rd';

async function startServer(t: Test, options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: Mail[] = [];
  const logins: string[][] = [];
  const server = new SMTPServer({
    ...unknownCertificate,
    logger: false,
    disableReverseLookup: true,
    onAuth({ method, username, password }, _session, done) {
      logins.push([method, username ?? '', password ?? '']);
      // An error message that reveals the password.
      if (password !== PASSWORD) return done(new Error(`${password} is no password of ${username}`));
      done(null, { user: username ?? '' });
    },
    onData(stream, { envelope, secure }, done) {
      const recipients = envelope.rcptTo.map(({ address }) => address);
      text(stream).then(content => {
        mails.push({ recipients, text: content, isSecure: secure });
        done();
      }, done);
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())));
  return { place: `127.0.0.1:${(server.server.address() as AddressInfo).port}`, mails, logins };
}

const MINE = 'from=me@example.com';
const send = async (url: string, message = {}) => (await deliver(smtp, url, {}, { message })).outcome;

t.test('a mail is sent without encryption', async t => {
  const { place, mails, logins } = await startServer(t, { authOptional: true });
  const url = `mailto://${place}/you@example.net/they@example.net?${MINE}&name=Höst&cc=c@example.net&bcc=hidden@example.net&reply=r@example.net`;
  t.same(await send(url, { title: 'Line\r\nBcc: x@example.net', body: 'Grüße\n.\nend' }), { ok: true });
  t.same(logins, []);
  const [{ recipients, text, isSecure } = { recipients: [], text: '', isSecure: true }] = mails;
  t.same(recipients, ['you@example.net', 'they@example.net', 'c@example.net', 'hidden@example.net']);
  t.notOk(isSecure);
  const [head = '', ...body] = text.split('\r\n\r\n');
  for (const line of [
    /^From: =\?UTF-8\?.*<me@example\.com>$/m,
    /^To: you@example\.net, they@example\.net$/m,
    /^Cc: c@example\.net$/m,
    /^Reply-To: r@example\.net$/m,
    /^Subject: Line Bcc: x@example\.net$/m,
    /^Message-ID: <delivery-1@example\.com>$/m,
    /^Date: Fri, 17 Jul 2026 \d\d:\d\d:\d\d \+0000$/m,
    /^Auto-Submitted: auto-generated$/m,
    /^Content-Type: text\/plain; charset=utf-8$/m,
  ])
    t.match(head.replaceAll('\r', ''), line);
  t.notMatch(text, /^Bcc|hidden|nodemailer/im);
  t.match(Buffer.from(body.join(), /base64/.test(head) ? 'base64' : 'utf8').toString(), /Gr(?:ü|=C3=BC)(?:ß|=C3=9F)e/);
  t.same(await send(`${url}&format=html`, { body: '<b>x</b>' }), { ok: true });
  t.match(mails[1]?.text, /^Content-Type: text\/html; charset=utf-8/m);
});

t.test('a mail is sent with STARTTLS, with each kind of login', async t => {
  for (const method of ['PLAIN', 'LOGIN']) {
    const { place, mails, logins } = await startServer(t, { authMethods: [method] });
    const url = `mailtos://me:${PASSWORD}@${place}/you@example.net?${MINE}`;
    t.match(
      await send(url),
      { ok: false, error: /certificate of the service is not trusted/ },
      'an unknown certificate',
    );
    t.same([mails, logins], [[], []], 'nothing was told');
    t.same(await send(`${url}&verify=no`), { ok: true });
    t.same(logins, [[method, 'me', PASSWORD]]);
    t.match(mails, [{ isSecure: true, recipients: ['you@example.net'] }]);
  }
});

t.test('a mail is sent with TLS', async t => {
  const { place, mails, logins } = await startServer(t, { secure: true });
  const url = `mailtos://me:${PASSWORD}@${place}/you@example.net?${MINE}&mode=ssl`;
  t.match(await send(url), { ok: false, error: /certificate of the service is not trusted/ });
  t.same([mails, logins], [[], []]);
  t.same(await send(`${url}&verify=no`), { ok: true });
  t.match(mails, [{ isSecure: true }]);
});

t.test('a mail is never sent with less encryption than asked for', async t => {
  const { place, mails, logins } = await startServer(t, { disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
  const url = `mailtos://me:${PASSWORD}@${place}/you@example.net?${MINE}&verify=no`;
  t.match(await send(url), { ok: false, error: /nothing is sent unencrypted/ }, 'a server without STARTTLS');
  t.match(await send(`${url}&mode=ssl`), { ok: false }, 'a server that speaks no TLS');
  t.same([mails, logins], [[], []]);
  t.same(await send(`${url}&mode=insecure`), { ok: true }, 'asked for');
  t.equal(logins.length, 1);
});

t.test('refusals of the server are errors without secrets', async t => {
  const { place, mails } = await startServer(t, {
    authOptional: true,
    allowInsecureAuth: true,
    onRcptTo: ({ address }, _session, done) =>
      address.startsWith('no')
        ? done(Object.assign(new Error(`no such box ${address}`), { responseCode: 550 }))
        : done(),
  });
  const error = async (url: string) => {
    const outcome = await send(url);
    return outcome.ok ? 'sent' : outcome.error;
  };
  const login = await error(`mailto://me:wr0ng-w0rd@${place}/you@example.net?${MINE}`);
  t.match(login, /Invalid login: 535/);
  t.notMatch(login, /wr0ng-w0rd/);
  const box = await error(`mailto://${place}/no-one@example.net?${MINE}`);
  t.match(box, /550/);
  t.notMatch(box, /no-one/);
  t.equal(await error(`mailto://${place}/no-one@example.net/you@example.net?${MINE}`), 'sent', 'one box of two');
  t.same(
    mails.map(({ recipients }) => recipients),
    [['you@example.net']],
  );
});

t.test('faults of the connection are errors', async t => {
  const cases: Record<string, [(socket: Socket) => void, RegExp]> = {
    silence: [() => undefined, /did not answer in time/],
    reset: [socket => socket.resetAndDestroy(), /closed the connection|closed unexpectedly/],
    end: [socket => socket.end(), /closed/i],
    endless: [
      socket => {
        const more = (): void =>
          void (socket.destroyed || socket.write('220-x\r\n'.repeat(2_000), () => setImmediate(more)));
        more();
      },
      /./,
    ],
    nonsense: [socket => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'), /./],
  };
  for (const [name, [act, error]] of Object.entries(cases)) {
    const sockets = new Set<Socket>();
    const server = createServer(socket => {
      sockets.add(socket.on('error', () => undefined));
      act(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const outcome = await send(`mailto://me:${PASSWORD}@127.0.0.1:${port}/you@example.net?${MINE}&cto=1&rto=1`);
    t.match(outcome, { ok: false, error }, name);
    t.notMatch(JSON.stringify(outcome), /s3cr3t|127\.0\.0\.1|you@/, name);
    for (const socket of sockets) socket.destroy();
    server.close();
    if (name === 'end') {
      const refused = await send(`mailto://127.0.0.1:${port}/you@example.net?${MINE}`);
      t.match(refused, { ok: false, error: /no service listens/ }, 'nobody there');
    }
  }
});
