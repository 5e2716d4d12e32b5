// Web interfaces of services through the gateway, over HTTP, WebSocket and in a browser, without a reverse proxy.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { WebSocket } from 'ws';
import { launchBrowser } from '../../support/browser.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { start, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const script = fileURLToPath(new URL('../../support/web-app.cjs', import.meta.url));
const isHere = ['service-ui', 'gateway'].every(name =>
  existsSync(new URL(`../../../plugins/${name}/index.ts`, import.meta.url)),
);

async function open(t: { teardown(fn: () => unknown): void }, more: Record<string, unknown> = {}) {
  const [port, gatewayPort] = [await freePort(), await freePort()];
  const app = await startHost({
    plugins: 'offline',
    config: {
      dumb: { gateway: { enabled: true, port: gatewayPort } },
      app: {
        enabled: true,
        process_name: 'My App',
        command: [process.execPath, script, '{port}'],
        port,
        ui: {},
        stop_grace_seconds: 2,
        ...more,
      },
    },
  });
  t.teardown(() => app.stop());
  await start(app, 'My App');
  await until(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null))?.ok, {
    what: 'the application',
  });
  return { app, port, base: `http://127.0.0.1:${gatewayPort}` };
}

t.test('an interface is served over HTTP', { skip: !isHere }, async t => {
  const { app, port, base } = await open(t);
  const listed = (await app.get('/config/service-ui')).body.services.find(
    (entry: { name: string }) => entry.name === 'app',
  );
  t.same(listed, {
    name: 'app',
    process_name: 'My App',
    config_key: 'app',
    port,
    host: '127.0.0.1',
    path: '/service/ui/app',
    entry_path: '',
  });
  for (const prefix of ['/ui/app', '/service/ui/app']) {
    const bare = await fetch(`${base}${prefix}?a=1`, { redirect: 'manual' });
    t.same([bare.status, bare.headers.get('location')], [307, `${prefix}/?a=1`], 'a folder, so that names resolve');
    t.match(await (await fetch(`${base}${prefix}/`)).text(), '<title>App</title>');
  }

  const spoofed = { forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4' };
  const echoed = await fetch(`${base}/ui/app/echo?x=1&y=%20`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', 'x-own': 'kept', authorization: 'Basic abc', origin: base, ...spoofed },
    body: 'the body',
  });
  t.equal(echoed.headers.get('x-frame-options'), 'SAMEORIGIN', 'it may be framed by the same origin');
  t.same(echoed.headers.getSetCookie(), ['own=1; Path=/', 'dumb_ui_service=app; Path=/; SameSite=Lax']);
  t.match(await echoed.json(), {
    method: 'POST',
    search: '?x=1&y=%20',
    body: 'the body',
    headers: {
      'x-own': 'kept',
      authorization: 'Basic abc',
      host: base.slice('http://'.length),
      'x-forwarded-prefix': '/ui/app',
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      forwarded: undefined,
    },
  });
  const askProxied = async () => {
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'media.local' };
    return (await fetch(`${base}/ui/app/echo`, { headers: proxied })).json();
  };
  const own = { 'x-forwarded-proto': 'http', 'x-forwarded-host': base.slice('http://'.length) };
  t.match(await askProxied(), { headers: own }, 'anybody could say so');
  await app.post('/config', { updates: { dumb: { api_service: { trusted_proxies: ['127.0.0.0/8'] } } } });
  t.match(await askProxied(), { headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'media.local' } });
  t.match(await (await fetch(`${base}/ui/app/echo`)).json(), { headers: own }, 'a proxy that says nothing');
  const away = async (to?: string, headers = {}) => {
    const query = to === undefined ? '' : `?to=${encodeURIComponent(to)}`;
    const answer = await fetch(`${base}/ui/app/away${query}`, { redirect: 'manual', headers });
    return answer.headers.get('location');
  };
  t.equal(await away(), '/ui/app/echo?from=away', 'a redirect stays below the prefix');
  for (const [to, place] of [
    [`http://127.0.0.1:${port}/login`, '/ui/app/login'],
    [`http://127.0.0.1:${port}`, '/ui/app/'],
    [`http://LOCALHOST:${port}?a=http://x/`, '/ui/app/?a=http://x/'],
    [`//127.0.0.1:${port}//login`, '/ui/app//login'],
    [`${base}/login?next=/`, '/ui/app/login?next=/'],
    [`${base}`, '/ui/app/'],
    [`${base}/ui/other`, '/ui/app/ui/other'],
    [`${base}/ui/app/login`, `${base}/ui/app/login`],
    [`${base}/service/ui/app`, `${base}/service/ui/app`],
    ['/ui/app/login', '/ui/app/login'],
    ['login', 'login'],
    ['?a=1', '?a=1'],
    ['//elsewhere.example/', '//elsewhere.example/'],
    [`http://127.0.0.1:${port}@elsewhere.example/`, `http://127.0.0.1:${port}@elsewhere.example/`],
    ['https://elsewhere.example/ui/app/', 'https://elsewhere.example/ui/app/'],
  ] as const) {
    t.equal(await away(to), place, to);
  }

  const proxied = { 'x-forwarded-host': 'media.local' };
  t.equal(await away('https://media.local/login', proxied), '/ui/app/login', 'as it is told that the browser asks');
  t.equal(await away('https://media.local:443/login', proxied), '/ui/app/login');
  await app.post('/config', { updates: { dumb: { api_service: { trusted_proxies: [] } } } });
  t.equal(await away('https://media.local/login', proxied), 'https://media.local/login', 'anybody could say so');

  const fromPage = { referer: `${base}/ui/app/` };
  t.equal(await (await fetch(`${base}/absolute.js`, { headers: fromPage })).text(), 'window.absolute = true');
  t.equal((await fetch(`${base}/api/health`, { headers: fromPage })).status, 404, 'its own API, which has none');
  t.equal((await fetch(`${base}/absolute.js`)).status, 404, 'without the page it is nothing of the gateway');
  t.equal((await fetch(`${base}/api/health`)).status, 200);

  const unknown = await fetch(`${base}/ui/nobody/`);
  t.same(
    [unknown.status, await unknown.json()],
    [
      404,
      { detail: 'There is no web interface named nobody here; GET /config/service-ui lists those of enabled services' },
    ],
  );
  t.equal((await fetch(`${base}/ui/app/echo`, { method: 'POST', headers: { origin: 'http://evil' } })).status, 403);
  const other = await freePort();
  await app.post('/config', { process_name: 'My App', updates: { port: other } });
  const silent = await fetch(`${base}/ui/app/`);
  t.same([silent.status, await silent.json()], [502, { detail: `My App does not answer on port ${other}` }]);
  await stop(app, 'My App');
  const gone = await fetch(`${base}/ui/app/`);
  t.same([gone.status, await gone.json()], [502, { detail: 'My App is not running; start it' }]);
});

t.test('no interface acts for the origin that it shares', { skip: !isHere }, async t => {
  const { base } = await open(t);
  const worker = { 'service-worker': 'script' };
  const answer = await fetch(`${base}/ui/app/worker.js`, { headers: worker });
  t.equal(answer.status, 200, 'below its own path it may have a service worker');
  for (const name of ['alt-svc', 'clear-site-data', 'nel', 'service-worker-allowed', 'strict-transport-security'])
    t.equal(answer.headers.get(name), null, name);
  const fromRoot = await fetch(`${base}/worker.js`, { headers: { ...worker, referer: `${base}/ui/app/` } });
  t.equal(fromRoot.status, 403, 'one from the root would stand before every page');
  t.match(await fromRoot.json(), { detail: /address of its own/ });

  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${base}/ui/app/`);
  const register = (script: string, scope: string) =>
    page.evaluate<string>(
      `navigator.serviceWorker.register('${script}', { scope: '${scope}' }).then(({ scope }) => scope, () => 'refused')`,
    );
  t.equal(await register('/worker.js', '/'), 'refused');
  t.equal(await register('/ui/app/worker.js', '/'), 'refused');
  t.equal(await register('/ui/app/worker.js', '/ui/app/'), `${base}/ui/app/`);
});

t.test('an interface is served over WebSocket', { skip: !isHere }, async t => {
  const { base } = await open(t);
  const address = base.replace('http', 'ws');
  const talk = async (url: string, options = {}) => {
    const socket = new WebSocket(url, options);
    await once(socket, 'open');
    socket.send('ping');
    const [text] = await once(socket, 'message');
    socket.send(Buffer.from([0, 1, 2]), { binary: true });
    const [bytes, isBinary] = await once(socket, 'message');
    socket.close(4001, 'enough');
    const [code] = await once(socket, 'close');
    return [String(text), [...(bytes as Buffer)], isBinary, code];
  };
  t.same(await talk(`${address}/ui/app/socket?a=1`), ['ping on /socket?a=1', [0, 1, 2], true, 4001]);
  t.same(
    await talk(`${address}/socket`, { headers: { cookie: 'a=b; dumb_ui_service=app' } }),
    ['ping on /socket', [0, 1, 2], true, 4001],
    'a socket that the page opens from the root',
  );
  const refused = new WebSocket(`${address}/socket`);
  const [error] = await once(refused, 'error');
  t.match(error, { message: 'Unexpected server response: 404' });
  const status = new WebSocket(`${address}/ws/status`, { headers: { cookie: 'dumb_ui_service=app' } });
  t.match(String((await once(status, 'message'))[0]), '"type":"status"', 'the streams of the host stay its own');
  status.close();
});

t.test('an interface works in a browser', { skip: !isHere, timeout: 400_000 }, async t => {
  const { base } = await open(t);
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  const failed: string[] = [];
  page.on('requestfailed', request => failed.push(request.url()));
  page.on('response', response => {
    if (response.status() >= 400 && !response.url().endsWith('/favicon.ico')) failed.push(response.url());
  });
  await page.goto(`${base}/ui/app/`);
  await page.waitForFunction("document.getElementById('socket').textContent === 'ping on /socket'");
  t.equal(await page.evaluate('window.relative && window.absolute'), true, 'assets by relative and by absolute name');
  t.equal(await page.evaluate('getComputedStyle(document.body).color'), 'rgb(1, 2, 3)');
  await page.click('button');
  await page.waitForURL(`${base}/ui/app/save`);
  t.match(await page.textContent('body'), /"method":"POST".*"body":"word=hello"/);
  t.same(failed, []);

  const framing = await browser.newPage();
  await framing.goto(`${base}/ui/app/`);
  await framing.evaluate(
    "document.body.append(Object.assign(document.createElement('iframe'), { src: '/ui/app/echo' }))",
  );
  const frame = await until(() => framing.frames().find(candidate => candidate.url().endsWith('/echo')));
  t.match(
    await frame.textContent('body'),
    /"method":"GET"/,
    'in a frame of the same origin, although it asks not to be',
  );
});

t.test('a landing page is shown, and the switch works with logins', { skip: !isHere }, async t => {
  const { app, base } = await open(t, { ui: { path: '/web/index.html' } });
  t.match(await (await fetch(`${base}/ui/app/`)).text(), '<title>Landing</title>');
  const { body } = await app.post('/auth/setup', { username: 'keeper', password: 'a long password' });
  const closed = await fetch(`${base}/ui/app/`);
  t.equal(closed.status, 404, 'an interface without a login of its own is not opened by chance');
  t.match(await closed.json(), { detail: /switched off .*; switch them on by POST \/config\/service-ui/ });
  await switchOn(app, body.access_token);
  t.equal((await fetch(`${base}/ui/app/`)).status, 200);
});

/** Enables interfaces as the settings page does. No reverse proxy is installed, so the gateway serves them. */
async function switchOn(app: TestHost, token: string): Promise<void> {
  await app.post('/config/service-ui', { enabled: true }, { authorization: `Bearer ${token}` });
}
