// The console when answers come late and tokens are refused more than once: what is newer stays, and streams go on.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Route } from 'playwright-core';
import t from 'tap';
import { launchBrowser } from '../../support/browser.ts';
import { openWatched } from '../../support/console-page.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['auth', 'console', 'docs', 'onboarding'].every(name => existsSync(path.join(pluginsDir, name)));
const PASSWORD = 'correct horse battery';
const REFUSED = { code: 1008, reason: 'Invalid or expired token' };

t.test('the console keeps what is newer', { skip, timeout: 400_000 }, async t => {
  const port = await freePort();
  const native = `http://127.0.0.1:${port}`;
  const block = (name: string, enabled: boolean) => ({ enabled, process_name: name, command: ['sleep', '600'] });
  const app = await startHost({
    plugins: 'all',
    listen: { port },
    config: {
      one: block('One', true),
      two: block('Two', false),
      dumb: { startup: { stabilization_seconds: 0 }, api_service: { port }, gateway: { enabled: false } },
    },
  });
  t.teardown(() => app.stop());
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const { page, faults } = await openWatched(browser, [native]);

  await t.test('an answer about an earlier graph does not replace a newer one', async t => {
    let held: Route | undefined;
    const graph = '**/process/dependency-graph/whole';
    await page.route(graph, async route => {
      if (held === undefined) held = route;
      else await route.continue();
    });
    await page.goto(`${native}/#/graph`);
    await until(() => held !== undefined, { what: 'the first request' });
    await app.post('/process/start-service', { process_name: 'Two' });
    const link = page.getByRole('link', { name: /^Two / });
    await link.waitFor();
    const late = page.waitForResponse(graph);
    await held?.continue();
    await (await late).finished();
    await page.evaluate('new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))');
    t.equal(await link.count(), 1);

    await page.unroute(graph);
    await app.post('/config', { updates: { one: { enabled: false }, two: { enabled: false } } });
    await app.post('/process/stop-service', { process_name: 'One' });
    await app.post('/process/stop-service', { process_name: 'Two' });
    await page.getByText('No service is enabled.').waitFor();
    t.equal(await page.locator('.picture a').count(), 0, 'nothing is shown of what is gone');
    await app.post('/process/start-service', { process_name: 'One' });
    await page.getByText(/^Services: 1/).waitFor();
  });

  await t.test('a stream whose new tokens are refused, too, asks for newer ones', async t => {
    await app.post('/auth/setup', { username: 'owner', password: PASSWORD });
    let opened = 0;
    let refreshed = 0;
    page.on('request', request => {
      if (request.url().endsWith('/auth/refresh')) refreshed += 1;
    });
    await page.routeWebSocket(/\/ws\/status/, async socket => {
      opened += 1;
      if (opened > 3) socket.connectToServer();
      else await socket.close(REFUSED);
    });
    await page.reload();
    await page.getByLabel('User name').fill('owner');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    t.equal(refreshed, 2);
  });

  await t.test('a refresh that fails for the moment is told and tried again', async t => {
    const refresh = '**/auth/refresh';
    const spoilAccess = () =>
      page.evaluate(`sessionStorage.setItem('stackwarden.tokens', JSON.stringify({
        ...JSON.parse(sessionStorage.getItem('stackwarden.tokens')), access_token: 'expired' }))`);
    await page.goto(`${native}/#/services`);
    await spoilAccess();
    await page.route(refresh, route => route.fulfill({ status: 503, json: { detail: 'It is starting' } }));
    await page.reload();
    await page.getByText('It is starting').waitFor();
    await page.unroute(refresh);
    await page.getByRole('link', { name: 'One', exact: true }).waitFor();

    t.comment('after a login, too, whose tokens are refused in the end');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.route('**/host/plugins', route => route.fulfill({ status: 503, json: { detail: 'It is starting' } }));
    await page.getByLabel('User name').fill('owner');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('It is starting').waitFor();
    await page.route('**/host/plugins', route => route.fulfill({ status: 401, json: { detail: 'Expired' } }));
    await page.route(refresh, route => route.fulfill({ status: 401, json: { detail: 'Expired' } }));
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  t.same(faults, [], 'no error');
});
