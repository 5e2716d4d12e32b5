// The documentation pages: the OpenAPI document, the explorers and all their assets are served by the host.
import { existsSync } from 'node:fs';
import t from 'tap';
import { startHost } from '../../support/host.ts';

const isHere = existsSync(new URL('../../../plugins/docs/index.ts', import.meta.url));

t.test('the documentation pages', { skip: !isHere }, async t => {
  const host = await startHost({ plugins: ['docs', 'gateway'], config: { dumb: { gateway: { enabled: false } } } });
  t.teardown(() => host.stop());
  const get = async (path: string) => {
    const answer = await fetch(host.base + path, { redirect: 'manual' });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };

  await t.test('the OpenAPI document describes itself', async t => {
    const { status, headers, text } = await get('/openapi.json');
    t.equal(status, 200);
    t.match(headers.get('content-type'), /^application\/json/);
    const document = JSON.parse(text);
    t.match(document, { openapi: '3.1.0', info: { title: 'Stackwarden', version: /^\d+\.\d+\.\d+/ } });
    t.ok(document.paths['/openapi.json']?.get, 'documents itself');
    t.notOk(document.paths['/docs'], 'pages are no part of the API');
  });

  for (const page of ['/docs', '/docs/', '/scalar', '/scalar/']) {
    await t.test(`${page} is whole and local`, async t => {
      const { status, headers, text } = await get(page);
      t.equal(status, 200);
      t.match(headers.get('content-type'), /^text\/html/);
      const policy = headers.get('content-security-policy') ?? '';
      t.match(policy, /default-src 'none'.*script-src 'self'/);
      t.notMatch(policy, /https?:|script-src[^;]*unsafe/, 'no outside source, no inline script');
      const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)]
        .map(([, name]) => name ?? '')
        .filter(name => !name.startsWith('data:'));
      t.ok(assets.length >= 2);
      for (const name of assets) {
        t.notMatch(name, /^(\/|\w+:)/, `${name} is relative, so that it works below a path prefix`);
        const asset = await get(new URL(name, host.base + page).pathname);
        t.equal(asset.status, 200, name);
        t.match(asset.headers.get('content-type'), name.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
        if (!name.endsWith('start.js')) continue;
        const description = new URL('../openapi.json', new URL(name, host.base + page));
        t.equal(
          JSON.parse((await get(description.pathname)).text).openapi,
          '3.1.0',
          'its script finds the description',
        );
        t.ok(asset.text.includes('../openapi.json'));
      }
    });
  }

  await t.test('the root says what this is and where to go', async t => {
    const { body } = await host.get('/');
    t.match(body, { name: 'Stackwarden', documentation: '/docs', health: '/health' });
    const page = await host.get('/', { accept: 'text/html,*/*' });
    t.match(page.headers['content-type'], /^text\/html/);
    t.match(page.text, /Stackwarden[\s\S]*href="\.\/docs"/);
  });

  await t.test('nothing else is served', async t => {
    for (const path of [
      '/docs/index.html',
      '/docs/package.json',
      '/docs/..%2f..%2fpackage.json',
      '/scalar/constructor',
    ]) {
      t.equal((await get(path)).status, 404, path);
    }
  });
});

t.test('no page is served when the documentation is disabled', { skip: !isHere }, async t => {
  const host = await startHost({ plugins: ['docs'], config: { dumb: { api_service: { docs_enabled: false } } } });
  t.teardown(() => host.stop());
  for (const path of ['/openapi.json', '/docs', '/docs/start.js', '/scalar', '/scalar/standalone.js']) {
    const answer = await fetch(host.base + path);
    t.equal(answer.status, 404, path);
    t.type(((await answer.json()) as { detail: string }).detail, 'string');
  }
});
