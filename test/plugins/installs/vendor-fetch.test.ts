// Requests of sources to publishers: through mirrors and proxies, and never to local machines that nobody chose.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import t, { type Test } from 'tap';
import type { FetchOptions } from '../../../core/contract/fetch.ts';
import type { Host } from '../../../core/contract/host.ts';
import { createFetcher } from '../../../core/host/fetch.ts';
import { mirrorsSchema } from '../../../plugins/installs/mirrors.ts';
import { vendorFetch } from '../../../plugins/installs/vendor-fetch.ts';
import { unknownCertificate } from '../../contracts/unknown-certificate.ts';

async function listen(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A new client, because proxies are read once. */
function client(t: Test, mirrors: Readonly<Record<string, string>> = {}) {
  const end = new AbortController();
  const fetcher = createFetcher(end.signal, 'test');
  t.teardown(async () => {
    end.abort();
    await fetcher.close();
  });
  const store = { root: () => ({ dumb: { install_mirrors: mirrorsSchema.parse(mirrors) } }) };
  return vendorFetch({ fetch: fetcher.fetch, use: () => store } as unknown as Host);
}

function withVariables(t: Test, variables: Readonly<Record<string, string>>): void {
  Object.assign(process.env, variables);
  t.teardown(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
}

t.test('mirrors replace hosts, and credentials are sent only to their own host', async t => {
  const asked: { url: string; headers: IncomingMessage['headers'] }[] = [];
  const answer: RequestListener = ({ url = '', headers }, response) => {
    asked.push({ url, headers });
    const [, status, location] = /^\/base\/(\d+)\?(.*)$/.exec(url) ?? [];
    if (status === undefined) response.end('content');
    else response.writeHead(Number(status), { location: decodeURIComponent(location ?? '') }).end('moved');
  };
  const one = await listen(t, createServer(answer));
  const two = await listen(t, createServer(answer));
  const fetch = client(t, {
    'releases.example': `http://127.0.0.1:${one}/base/`,
    'cdn.example:8443': `http://127.0.0.1:${two}`,
  });
  const to = (place: string, status = 302) => `https://releases.example/${status}?${encodeURIComponent(place)}`;
  const headers = { authorization: 'Bearer abc', range: 'bytes=3-', 'if-range': '"tag"' };
  const askFor = async (url: string) => {
    asked.length = 0;
    await fetch(url, { headers });
    return asked.at(-1);
  };

  t.match(await askFor('https://releases.example/a/b%20c?d=e'), { url: '/base/a/b%20c?d=e', headers });
  t.match(await askFor(to('/base/other')), { url: '/base/other', headers }, 'within the mirror');
  const elsewhere = await askFor(to('https://cdn.example:8443/file', 307));
  t.match(elsewhere, { url: '/file', headers: { range: 'bytes=3-', 'if-range': '"tag"', authorization: undefined } });

  const stream = await fetch(to('https://cdn.example:8443/file'), { stream: true });
  const parts: Buffer[] = [];
  for await (const part of stream.body) parts.push(part);
  t.equal(Buffer.concat(parts).toString(), 'content');
  t.equal((await fetch(to('/elsewhere'), { redirects: 0 })).status, 302, 'a redirect that is asked for');
  await t.rejects(fetch(to('https://releases.example/302?https%3A%2F%2Fcdn.example%3A8443%2Fx'), { redirects: 1 }), {
    status: 502,
    message: /^127\.0\.0\.1:\d+ redirects more than 1 times/,
  });

  const local = { status: 502, message: / is no machine of the internet.*dumb\.install_mirrors$/ };
  for (const place of [`https://127.0.0.1:${two}/`, 'https://[::1]/', 'https://169.254.169.254/latest/meta-data'])
    await t.rejects(fetch(to(place)), local, `a redirect to ${place}`);
  await t.rejects(fetch(to('http://[not an address')), { message: /is no plain http or https address/ });
});

t.test('addresses in feeds must be on the internet', async t => {
  const fetch = client(t);
  const local = { status: 502, message: / is no machine of the internet/ };
  for (const host of [
    'localhost',
    '127.0.0.1',
    '127.8.9.10',
    '2130706433',
    '0x7f.1',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a01:203]',
    '0xa010203',
    '3232235777:8443',
    '172.31.0.1',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00::1]',
  ])
    await t.rejects(fetch(`https://${host}/program.tar.gz`), local, host);
  await t.rejects(fetch('http://releases.example/program'), {
    status: 502,
    message: /by http, so that anybody on the/,
  });
  for (const address of [
    'file:///etc/passwd',
    'ftp://releases.example/',
    'data:text/plain,program',
    'https://user:password@releases.example/',
    'https://releases.example/\r\nX-Header: value',
    'https://releases.example/\ttab',
    'releases.example/program',
    '',
  ])
    await t.rejects(fetch(address), { status: 502, message: /is no plain http or https address/ }, address);
});

t.test('downloads go through the proxy of the environment', async t => {
  const port = await listen(
    t,
    createTlsServer(unknownCertificate, (_request, response) => response.end('content')),
  );
  const asked: { place: string; credentials: string | undefined }[] = [];
  const proxy = createServer().on('connect', ({ url = '', headers }: IncomingMessage, socket, head) => {
    asked.push({ place: url, credentials: headers['proxy-authorization'] });
    const tunnel = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      tunnel.write(head);
      socket.pipe(tunnel).pipe(socket);
    });
    for (const end of [tunnel, socket]) end.on('error', () => [tunnel, socket].map(each => each.destroy()));
  });
  const proxyPort = await listen(t, proxy);
  withVariables(t, { HTTPS_PROXY: `http://user:pass@127.0.0.1:${proxyPort}`, NO_PROXY: 'direct.invalid' });
  const fetch = client(t, { 'mirrored.example': 'https://mirror.invalid/base' });

  await t.rejects(fetch('https://releases.invalid/program'), /self.signed certificate/, 'the server is still verified');
  t.match(await fetch('https://releases.invalid/program', { verifyTls: false }), { status: 200, text: 'content' });
  await fetch('https://mirrored.example/program', { verifyTls: false });
  t.same(asked, [
    { place: 'releases.invalid:443', credentials: `Basic ${btoa('user:pass')}` },
    { place: 'releases.invalid:443', credentials: `Basic ${btoa('user:pass')}` },
    { place: 'mirror.invalid:443', credentials: `Basic ${btoa('user:pass')}` },
  ]);
  await t.rejects(fetch('https://direct.invalid/program'), /ENOTFOUND|EAI_AGAIN/, 'NO_PROXY');
  await t.rejects(
    fetch('https://localhost/program'),
    { message: / is no machine/ },
    'the proxy does not look for this machine',
  );
  await t.rejects(fetch('https://172.16.0.1/program'), { message: / is no machine/ });
  t.equal(asked.length, 3);
});

t.test('a host that bypasses the proxy must be on the internet', async t => {
  withVariables(t, {
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: 'own.invalid, .inner.invalid,*.deep.invalid,odd.invalid:8443',
  });
  const proxied: string[] = [];
  const host = {
    use: () => ({ root: () => ({ dumb: {} }) }),
    fetch: async (url: string, options: FetchOptions) => {
      if (options.proxied === true) proxied.push(new URL(url).host);
      return { status: 200, headers: {}, text: '' };
    },
  };
  const fetch = vendorFetch(host as never);
  for (const name of ['own.invalid', 'a.own.invalid', 'inner.invalid', 'a.deep.invalid', 'odd.invalid:8443'])
    await t.rejects(fetch(`https://${name}/program`), /ENOTFOUND|EAI_AGAIN/, `${name} is looked up here`);
  for (const name of ['odd.invalid', 'notown.invalid']) await fetch(`https://${name}/program`);
  t.same(proxied, ['odd.invalid', 'notown.invalid']);
  process.env.NO_PROXY = '*';
  await t.rejects(fetch('https://odd.invalid/program'), /ENOTFOUND|EAI_AGAIN/);
});

t.test('invalid mirrors are refused', async t => {
  for (const bad of [
    { 'https://releases.example': 'https://mirror.example' },
    { 'releases.example': 'mirror.example' },
    { 'releases.example': 'file:///mirror' },
    { 'releases.example': 'https://user:password@mirror.example' },
    { 'releases.example': 'https://mirror.example/?a=b' },
  ])
    t.notOk(mirrorsSchema.safeParse(bad).success, JSON.stringify(bad));
});
