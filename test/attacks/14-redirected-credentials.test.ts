// A service that redirects to another origin gets none of the credentials that were meant for it sent there.
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createFetcher } from '../../core/host/fetch.ts';

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const CREDENTIALS = {
  authorization: 'Basic c2VjcmV0',
  cookie: 'session=secret',
  'x-api-key': 'secret',
  'X-Plex-Token': 'secret',
  'x-something-of-its-own': 'secret',
};

t.test('only harmless headers follow a redirect to another origin', async t => {
  const seen: IncomingHttpHeaders[] = [];
  let back = '';
  const other = await serve(t, ({ headers, url }, response) => {
    seen.push(headers);
    if (url === '/return') response.writeHead(307, { location: `${back}/end` }).end();
    else response.end('there');
  });
  const atHome: IncomingHttpHeaders[] = [];
  const own = await serve(t, ({ headers, url = '' }, response) => {
    atHome.push(headers);
    const target = { '/away': `${other}/`, '/inside': '/end', '/around': `${other}/return` }[url];
    if (target === undefined) response.end('here');
    else response.writeHead(307, { location: target }).end();
  });
  back = own;
  const fetcher = createFetcher(new AbortController().signal, 'test');
  t.teardown(() => fetcher.close());
  const headers = { ...CREDENTIALS, accept: 'text/x' };

  t.equal((await fetcher.fetch(`${own}/away`, { headers })).text, 'there');
  t.equal((await fetcher.fetch(`${own}/away`, { method: 'POST', json: { a: 1 }, headers })).text, 'there');
  const stream = await fetcher.fetch(`${own}/away`, { headers, stream: true });
  for await (const _chunk of stream.body);
  t.equal(seen.length, 3);
  for (const received of seen) {
    t.notMatch(JSON.stringify(received), /secret|c2VjcmV0/);
    t.match(received, { accept: 'text/x', 'user-agent': 'test', 'accept-encoding': 'identity' });
  }
  t.equal(seen[1]?.['content-type'], 'application/json');

  t.equal((await fetcher.fetch(`${own}/inside`, { headers })).text, 'here');
  t.equal(atHome.at(-1)?.['x-api-key'], 'secret', 'its own origin keeps them');

  t.equal((await fetcher.fetch(`${own}/around`, { headers })).text, 'here');
  t.notMatch(JSON.stringify(seen.at(-1)), /secret/);
});
