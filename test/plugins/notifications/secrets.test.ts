// Every destination fails in every way, and no part of its URL or headers appears in an answer, the history or a log.
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import net, { type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import t from 'tap';
import {
  type Answers,
  openReceiver,
  type Received,
  type Receiver,
  type SocketFault,
} from '../../contracts/receiver.ts';
import { testDir } from '../../support/directory.ts';
import { pluginNames, pluginsDir, startHost } from '../../support/host.ts';

/** Every secret contains this text, in whatever form it is written. */
const MARK = 'hUsh9';
const LOGIN = `owner:${MARK}word`;
const HOST = 'service.invalid';

const URLS: Readonly<Record<string, readonly string[]>> = {
  'notify-apprise': [`apprise://${LOGIN}@${HOST}/${MARK}key?+X-Key=${MARK}head`],
  'notify-bark': [`bark://${LOGIN}@${HOST}/${MARK}device`],
  'notify-custom': [
    `json://${LOGIN}@${HOST}/${MARK}path?-k=${MARK}query&:extra=${MARK}member`,
    `forms://${LOGIN}@${HOST}/${MARK}path?+X-Key=${MARK}head`,
  ],
  'notify-discord': [`discord://123456/${MARK}token`, `https://discord.com/api/webhooks/123456/${MARK}token`],
  'notify-google-chat': [`gchat://${MARK}space/${MARK}key/${MARK}token`],
  'notify-gotify': [`gotifys://${HOST}/${MARK}token`],
  'notify-home-assistant': [`hassio://${HOST}/${MARK}token`],
  'notify-matrix': [`matrixs://${LOGIN}@${HOST}/#${MARK}room`, `matrix://${MARK}token@${HOST}/#${MARK}room`],
  'notify-mattermost': [`mmost://${HOST}/${MARK}token`],
  'notify-notifiarr': [`notifiarr://${MARK}key/#123456`],
  'notify-ntfy': [`ntfy://${LOGIN}@${HOST}/${MARK}topic`, `ntfys://tk_${MARK}@${MARK}topic`],
  'notify-pushbullet': [`pbul://${MARK}token/${MARK}device`],
  'notify-pushover': [`pover://${MARK}user@${MARK}token`],
  'notify-rocketchat': [`rocket://${MARK}id%2F${MARK}token@${HOST}`, `rockets://owner:${MARK}token@${HOST}/#room`],
  'notify-signal': [`signal://${LOGIN}@${HOST}/15550001111`],
  'notify-slack': [`slack://T1/B2/${MARK}token`, `slack://xoxb-1-${MARK}/#room`],
  'notify-smtp': [],
  'notify-teams': [`workflow://${HOST}/${MARK}flow/${MARK}sig`],
  'notify-telegram': [`tgram://12345:${MARK}key/67890`],
  'notify-webhook': [`https://${HOST}/${MARK}path?key=${MARK}query`],
  'notify-zulip': [`zulip://alerts@acme/${MARK}key`],
};

/** A third party's destination that reveals the whole URL once it is saved and used. */
const OPEN_URL = `open://${LOGIN}@${HOST}/${MARK}path`;
const OPEN = `export default { name: 'open', host: '^1', needs: ['notifications'], setup (host) {
  let parsed = 0
  host.contribute('notifications.destination', 'open', {
    schemes: ['open', 'opens'], example: 'open://host/path', send: async () => ({ ok: true }),
    parse ({ text }) {
      parsed += 1
      if (text.startsWith('opens')) throw new Error('cannot read ' + text)
      if (parsed > 1) throw new host.Problem(400, 'no such place: ' + text + ', ' + text.slice(8))
    },
  })
} }`;

/** The content of a request, from a different offset each time, so that a cut may be in the middle of a secret. */
let offset = 0;
function echo({ path, headers, body }: Received): string {
  offset += 7;
  return `${'.'.repeat(offset % 150)} ${path} ${JSON.stringify(headers)} ${body}`;
}

const FAULTS: Readonly<Record<string, Answers | SocketFault>> = {
  refusal: request => ({ status: 400, body: { error: echo(request) } }),
  text: request => ({ status: 500, body: echo(request) }),
  'refusal within success': request => ({
    body: { ok: false, success: false, status: 0, result: 'error', msg: echo(request), error: echo(request) },
  }),
  redirect: request => ({ status: 302, headers: { location: `/${encodeURIComponent(echo(request))}` } }),
  reset: 'reset',
  certificate: { status: 500 },
};

t.test('no failure reveals a secret', async t => {
  let fault = '';
  const receivers = new Map<string, { plain: Receiver; secure: Receiver }>();
  for (const [name, answers] of Object.entries(FAULTS)) {
    const [plain, secure] = await Promise.all([openReceiver(answers), openReceiver(answers, { tls: true })]);
    receivers.set(name, { plain, secure });
    t.teardown(() => Promise.all([plain.close(), secure.close()]));
  }
  sendElsewhere(t.teardown.bind(t), isSecure => {
    const { plain, secure } = receivers.get(fault) ?? {};
    const base = (isSecure ? secure : plain)?.base ?? '';
    return { port: Number(new URL(base).port), trusts: fault !== 'certificate' };
  });
  const mail = net.createServer(refuseLogin).listen(0, '127.0.0.1');
  await once(mail, 'listening');
  t.teardown(() => mail.close());
  const mailUrl = `mailto://${LOGIN}@127.0.0.1:${(mail.address() as AddressInfo).port}/${MARK}@example.net?from=me@example.com`;

  const folders = (await pluginNames()).filter(name => name.startsWith('notify-'));
  t.same(Object.keys(URLS).sort(), folders.sort(), 'no destination is missing');
  const app = await startHost({
    config: {},
    pluginDirs: [pluginsDir, testDir(t, { open: { 'index.js': OPEN } })],
    plugins: ['notifications', 'config', 'process', 'logs', 'host-plugins', 'open', ...folders],
  });
  t.teardown(() => app.stop());
  const destinations = [...Object.values(URLS).flat(), mailUrl, OPEN_URL].map((url, index) => ({
    id: `d${index}`,
    name: `Destination ${index}`,
    provider: url.startsWith(`https://${HOST}`) ? 'webhook' : 'apprise',
    url,
    headers: url.startsWith(`https://${HOST}`) ? { 'X-Key': `${MARK}head` } : {},
  }));
  const saved = await app.post('/notifications/config', { config: { enabled: true, destinations } });
  t.equal(saved.status, 200, saved.text);

  const told: string[] = [saved.text];
  for (fault of Object.keys(FAULTS)) {
    const answers = await Promise.all(
      destinations.map(({ id }) => app.post('/notifications/test', { destination_id: id })),
    );
    told.push(...answers.map(({ text }) => text));
    const delivered = answers.filter(({ body }) => body.status === 'completed').length;
    if (fault === 'refusal within success') t.ok(delivered < destinations.length);
    else t.equal(delivered, 0, `${fault}: each failed`);
  }
  for (const url of [OPEN_URL, OPEN_URL.replace('open', 'opens')]) {
    const refused = await app.post('/notifications/config', { config: { destinations: [{ url: `${url}2` }] } });
    t.match(
      [refused.status, refused.body.detail],
      [400, /^Invalid notification configuration at destinations: the URL/],
    );
    told.push(refused.text);
  }
  const routes = [
    '/notifications/history?limit=500',
    '/notifications/config',
    '/config',
    '/config/schema',
    '/host/plugins',
  ];
  for (const route of routes) told.push((await app.get(route)).text);
  const logs = path.join(app.configDir, 'log');
  for (const name of await readdir(logs)) told.push(await readFile(path.join(logs, name), 'utf8'));
  const forms = [MARK, btoa(LOGIN), btoa(`alerts-bot@acme.zulipchat.com:${MARK}key`).slice(-16)];
  for (const text of told) {
    const form = forms.find(known => text.includes(known));
    if (form !== undefined)
      t.equal(text.slice(Math.max(0, text.indexOf(form) - 300)).slice(0, 400), '', 'a secret is told');
  }
  const { plugins } = (await app.get('/host/plugins')).body;
  const { errors } = plugins.find(({ name }: { name: string }) => name === 'notifications');
  t.same(errors, {}, 'what a service does is no fault of the host');
  const asked = [...receivers.values()].flatMap(({ plain, secure }) => [...plain.received, ...secure.received]);
  t.ok(asked.length > destinations.length * 4, 'the services were really asked');
  t.ok(
    told.some(text => text.includes('HTTP 400: ..')),
    'and their answers were told',
  );
});

/** Redirects every connection to another machine to a receiver on this one. */
function sendElsewhere(
  teardown: (undo: () => void) => void,
  placeFor: (isSecure: boolean) => { readonly port: number; readonly trusts: boolean },
): void {
  const { connect } = net;
  const { connect: connectTls } = tls;
  const isHere = (options: unknown) => (options as { host?: string }).host === '127.0.0.1';
  net.connect = ((options: object, ...rest: []) =>
    connect(
      (isHere(options) ? options : { port: placeFor(false).port, host: '127.0.0.1' }) as net.NetConnectOpts,
      ...rest,
    )) as typeof connect;
  tls.connect = ((options: object, ...rest: []) => {
    const { port, trusts } = placeFor(true);
    return connectTls({ ...options, port, host: '127.0.0.1', rejectUnauthorized: !trusts }, ...rest);
  }) as typeof connectTls;
  teardown(() => {
    net.connect = connect;
    tls.connect = connectTls;
  });
}

/** A mail server whose refusals repeat the login. */
function refuseLogin(socket: Socket): void {
  socket.on('error', () => undefined).write('220 here\r\n');
  socket.on('data', data => {
    const line = String(data).trim();
    socket.write(line.startsWith('EHLO') ? '250-here\r\n250 AUTH PLAIN LOGIN\r\n' : `535 ${line} is no login\r\n`);
  });
}
