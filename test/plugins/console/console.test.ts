// The files of the console as listeners serve them: its address, its policy, and how much a browser loads.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { request } from 'undici';
import { pluginsDir, startHost } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const isHere = ['console', 'docs', 'gateway'].every(name => existsSync(path.join(pluginsDir, name)));
const MAX_BYTES = 120_000;
const HTML = { accept: 'text/html,*/*' };

t.test('the page and its files are served with a strict policy, and are small', { skip: !isHere }, async t => {
  const port = await freePort();
  const app = await startHost({
    plugins: ['console', 'docs', 'gateway'],
    config: { dumb: { gateway: { enabled: true, port } } },
  });
  t.teardown(() => app.stop());
  const gateway = `http://127.0.0.1:${port}`;
  await until(() => fetch(gateway).then(answer => answer.ok));
  const read = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await request(url, { headers });
    return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
  };

  const places = [
    `${app.base}/`,
    `${app.base}/console`,
    `${app.base}/console/`,
    `${gateway}/`,
    `${gateway}/api/console`,
  ];
  for (const place of places) {
    await t.test(place.replace(/^.*:\d+/, place.startsWith(gateway) ? 'gateway' : 'native'), async t => {
      const page = await read(place, HTML);
      t.equal(page.status, 200);
      t.match(page.headers['content-type'], /^text\/html/);
      t.equal(page.headers['cache-control'], 'no-store');
      const html = page.bytes.toString();
      t.notMatch(html, /<style|\sstyle=|<script>|\son\w+=/, 'nothing runs that is not a file');
      const policy = String(page.headers['content-security-policy']);
      t.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
      t.match(policy, /require-trusted-types-for 'script'/);
      t.notMatch(policy, /unsafe|https?:|\*/);
      const names = [...html.matchAll(/(?:src|href)="((?!data:)[^"]+)"/g)].map(([, name = '']) => name);
      t.equal(names.length, 2);
      let loaded = page.bytes.length;
      for (const name of names) {
        const url = new URL(name, place).href;
        const file = await read(url, { 'accept-encoding': 'gzip' });
        t.equal(file.status, 200, url);
        t.match(name, /-[0-9a-f]{16}\.(js|css)$/, 'its name is that of its content');
        t.match(file.headers['cache-control'], /immutable/);
        t.equal(file.headers['content-encoding'], 'gzip');
        t.match(file.headers['content-type'], name.endsWith('.js') ? /^text\/javascript/ : /^text\/css/);
        loaded += file.bytes.length;
        const plain = await read(url);
        t.notOk(plain.headers['content-encoding']);
        t.same(plain.bytes, gunzipSync(file.bytes), 'and whole for those that take no gzip');
        t.notMatch(plain.bytes.toString(), /https?:\/\/(?!www\.w3\.org\/)[a-z]/, 'it names no other server');
      }
      t.ok(loaded < MAX_BYTES, `${loaded} bytes in all`);
    });
  }

  t.match((await app.get('/')).body, { name: 'Stackwarden', health: '/health' }, 'programs get what they got');
  t.match((await read(`${gateway}/`)).bytes.toString(), /"name":"Stackwarden"/);
  for (const name of ['index.ts', 'console-0000000000000000.js', '..%2findex.ts', 'page/main.ts'])
    t.equal((await app.get(`/console/${name}`)).status, 404, name);
  t.notOk((await app.get('/openapi.json')).body.paths['/console'], 'a page is no part of the API');
});

t.test('a listener of another plugin shows the console', { skip: !isHere }, async t => {
  const setup = `host.route({ method: 'GET', path: '/shown', summary: 'x',
    handle: () => host.use('console.page').open('../routes/') })`;
  const app = await startWithPlugins(t, { shower: setup }, { shipped: ['console'] });
  const { html, headers } = (await app.get('/shown')).body;
  t.match(html, /src="\.\.\/routes\/console\/console-[0-9a-f]+\.js"/);
  t.match(headers, { 'Content-Security-Policy': /default-src 'none'/ });
});

t.test('the page that waits for a frontend links to the console', { skip: !isHere }, async t => {
  const port = await freePort();
  const frontend = { enabled: true, host: '127.0.0.1', port, command: ['/nonexistent/frontend'] };
  const app = await startHost({
    plugins: ['console', 'gateway', 'process', 'services', 'service-dumb-frontend'],
    config: { dumb: { gateway: { enabled: true, port }, frontend } },
  });
  t.teardown(() => app.stop());
  const page = await until(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: HTML });
    return answer.status === 503 ? answer : undefined;
  });
  t.match(await page.text(), /becomes DUMB Frontend[\s\S]*href="\/api\/console"/);
});

t.test('without the console the root links to the documentation', { skip: !isHere }, async t => {
  const port = await freePort();
  const app = await startHost({ plugins: ['docs', 'gateway'], config: { dumb: { gateway: { enabled: true, port } } } });
  t.teardown(() => app.stop());
  t.match((await app.get('/', HTML)).text, /href="\.\/docs"/);
  t.equal((await app.get('/console', HTML)).status, 404);
  const landing = () => fetch(`http://127.0.0.1:${port}/`, { headers: HTML }).then(answer => answer.text());
  t.match(await until(landing), /Stackwarden is running/);
});
