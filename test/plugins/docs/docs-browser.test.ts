// The documentation pages in a browser: complete, without requests to elsewhere and without errors.
import { existsSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { launchBrowser } from '../../support/browser.ts';
import { startHost } from '../../support/host.ts';

const isHere = existsSync(new URL('../../../plugins/docs/index.ts', import.meta.url));

/** A proxy that serves `base` below /service/ui/dumb_api_service, as the reverse proxy of a stack does. */
async function startPrefixProxy(base: string) {
  const server = createServer((incoming, outgoing) => {
    const below = (incoming.url ?? '/').replace('/service/ui/dumb_api_service', '');
    const upstream = request(base + below, { method: incoming.method, headers: incoming.headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(upstream);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const prefixed = `http://127.0.0.1:${(server.address() as AddressInfo).port}/service/ui/dumb_api_service`;
  return { base: prefixed, close: () => server.close() };
}

t.test('each page is drawn completely in a browser', { skip: !isHere, timeout: 400_000 }, async t => {
  const app = await startHost({ plugins: 'all' });
  t.teardown(() => app.stop());
  const proxy = await startPrefixProxy(app.base);
  t.teardown(() => proxy.close());
  const browser = await launchBrowser();
  t.teardown(() => browser.close());

  for (const address of [`${app.base}/docs/`, `${app.base}/scalar`, `${proxy.base}/scalar`]) {
    const { pathname, origin } = new URL(address);
    await t.test(pathname, async t => {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('console', message => {
        if (message.type() === 'error') faults.push(message.text());
      });
      page.on('pageerror', error => faults.push(String(error)));
      page.on('request', sent => {
        if (!/^(data|blob):/.test(sent.url()) && new URL(sent.url()).origin !== origin) faults.push(sent.url());
      });
      await page.goto(address);
      for (const text of ['/process/processes', '/config', '/health']) {
        await page.getByText(text, { exact: false }).first().waitFor({ state: 'attached', timeout: 60_000 });
        t.ok(await page.getByText(text, { exact: false }).count(), `${text} is drawn`);
      }
      const tryOut = page.getByRole('button', { name: /Test Request\s+\(get/ });
      if (pathname.startsWith('/docs')) {
        await tryOut.first().click({ timeout: 60_000 });
        const answered = page.waitForResponse(answer => answer.url() !== address);
        await page.getByRole('button', { name: /^Send/ }).first().click({ timeout: 60_000 });
        t.match((await answered).headers()['content-type'], /^application\/json/, 'what it sends is answered');
      } else t.equal(await tryOut.count(), 0, 'the reference sends nothing');
      t.same(faults, [], 'no error, no violation of the policy, no request to elsewhere');
      await page.close();
    });
  }
});
