// The console in a browser: every view and button, long lists, logins, and a host that disappears and returns.
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import t from 'tap';
import { launchBrowser } from '../../support/browser.ts';
import { barriers, openWatched, pictureOf } from '../../support/console-page.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { pidOf } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const isHere = ['console', 'docs', 'gateway', 'metrics', 'wizard'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);
const SERVICES = 200;
const LINES = 100_000;
const PLACES = ['services', 'service/Alpha', 'log', 'graph', 'metrics', 'plugins', 'begin'];
const HOSTILE = `<i id="evil">${'Gamma'.repeat(25)}</i>`;
const PASSWORD = 'correct horse battery';

const [apiPort, port] = [await freePort(), await freePort()];
const native = `http://127.0.0.1:${apiPort}`;
const gateway = `http://127.0.0.1:${port}`;

function block(processName: string, command: readonly string[], more: Record<string, unknown> = {}) {
  return { enabled: true, process_name: processName, command, suppress_logging: true, stop_grace_seconds: 1, ...more };
}

const SLEEP = ['sleep', '600'];
const after = (processName: string) => ({ wait_for_url: [{ url: `${native}/health`, process_name: processName }] });

const config = {
  alpha: block('Alpha', ['sh', '-c', 'echo "<b id=evil>bold</b>"; exec sleep 600']),
  beta: block('Beta', SLEEP, after('Alpha')),
  gamma: block(HOSTILE, SLEEP, after('Beta')),
  crooked: block('Crooked', SLEEP, { port: 'abc' }),
  chronicle: block('Chronicle', ['sh', '-c', 'echo a line that is new; exec sleep 600'], { enabled: false }),
  ...Object.fromEntries(
    Array.from({ length: SERVICES }, (_, index) => [
      `many_${index}`,
      block(`Many ${String(index).padStart(3, '0')}`, SLEEP, { enabled: false }),
    ]),
  ),
};

function start(dumb: Record<string, unknown>, more: Partial<Parameters<typeof startHost>[0]> = {}): Promise<TestHost> {
  return startHost({
    plugins: 'all',
    listen: { port: apiPort },
    config: {
      ...config,
      dumb: {
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
        api_service: { port: apiPort },
        ...dumb,
      },
    },
    ...more,
  });
}

t.test('the console works in a browser', { skip: !isHere, timeout: 600_000 }, async t => {
  const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-console-'));
  const ownPlugins = testDir(t, { broken: { 'index.js': 'throw new Error("it cannot <b>load</b>")' } });
  const log = path.join(configDir, 'log/chronicle.log');
  await writeLog(log);
  const options = { configDir, pluginDirs: [pluginsDir, ownPlugins] };
  let app = await start({ gateway: { enabled: true, port } }, options);
  t.teardown(async () => {
    await app.stop();
    await rm(configDir, { recursive: true });
  });
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const { page, faults } = await openWatched(browser, [native, gateway]);
  const blank = await browser.newPage();
  const pictured = async (target: Locator) => pictureOf(blank, await target.screenshot());
  const go = (place: string) => page.goto(`${native}/#/${place}`);
  const row = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const chosen = (name: string) => page.getByRole('combobox', { name, exact: true });
  const rowsInDocument = () => page.locator('.virtual > li').count();

  await t.test('the first page leads through the first steps', async t => {
    await page.goto(native);
    await page.getByRole('heading', { name: 'Services', exact: true }).waitFor();
    await page.getByRole('link', { name: 'What to do next' }).click();
    await button('Go on without an account').click();
    await page.getByText('Nobody must log in: everybody who reaches this address').waitFor();

    await page.route('**/process/start-core-service', route =>
      route.fulfill({
        json: { results: [], errors: [{ service: 'Plex', error: 'no <b>program</b>', component: null }] },
      }),
    );
    const asked = page.waitForRequest('**/process/start-core-service');
    await chosen('Service').selectOption({ label: 'Sonarr' });
    await page.getByLabel('Name of the instance').fill('TV');
    await chosen('Service').selectOption({ label: 'Riven' });
    await chosen('Provider').waitFor();
    await page.getByLabel('Key of the provider').fill('a-key');
    await page.getByText('Options', { exact: true }).click();
    const options = page.locator('.options[open]').first();
    await options.getByLabel('Port', { exact: true }).fill('8181');
    await options.getByLabel('Suppress logging').check();
    await page.getByText('Start along with it').click();
    await page.getByLabel('Zilean').check();
    await page.getByText('Options of Zilean').click();
    await page.locator('.options .options[open]').getByLabel('Branch', { exact: true }).fill('next');
    await button('Start it').click();
    t.same(
      (await asked).postDataJSON(),
      {
        core_services: [
          {
            name: 'riven_backend',
            debrid_service: 'RealDebrid',
            debrid_key: 'a-key',
            service_options: {
              riven_backend: { port: 8181, suppress_logging: true },
              zurg: {},
              rclone: {},
              postgres: {},
            },
          },
        ],
        optional_services: ['zilean'],
        optional_service_options: { zilean: { branch: 'next' } },
      },
      'what was changed is sent, and nothing else',
    );
    await page.getByText('Plex: no <b>program</b>').waitFor();

    await page.getByLabel('Name', { exact: true }).fill('My own');
    await page.getByLabel('Command, as in a shell').fill('echo it is mine; exec sleep 600');
    await button('Add and start it').click();
    await page.getByRole('heading', { name: 'My own' }).waitFor();
    await page.locator('.line', { hasText: 'it is mine' }).waitFor();
    t.match((await app.get('/process?process_name=My%20own')).body, { enabled: true, status: 'running' });
    for (const name of ['Радио', 'Погода', 'Радио']) {
      await go('begin');
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByLabel('Command, as in a shell').fill('exec sleep 600');
      await button('Add and start it').click();
      await page.getByRole('heading', { name }).waitFor();
    }
    const { body: added } = await app.get('/config');
    t.match(added, { program: { process_name: 'Радио' }, program_2: { process_name: 'Погода' } });
    t.notOk('program_3' in (added as object), 'a program that is added again keeps its key');

    await go('begin');
    await button('Do not show this again').click();
    await page.getByRole('link', { name: 'What to do next' }).waitFor({ state: 'hidden' });
    t.match((await app.get('/config/onboarding-status')).body, { needs_onboarding: false });
  });

  await t.test('services are shown live, and their buttons work', async t => {
    await go('services');
    const alpha = row('Alpha');
    const status = alpha.locator('.mark');
    await alpha.getByText('running').waitFor();
    process.kill(await pidOf(app, 'Alpha'), 'SIGKILL');
    await alpha.getByText('stopped').waitFor();
    const attention = page.getByRole('link', { name: /^Alpha is stopped: .*SIGKILL/ });
    await attention.waitFor();
    await page.reload();
    await page.getByRole('link', { name: /^The plugin broken has failed/ }).waitFor();
    await attention.waitFor();
    t.equal(
      await page.getByRole('link', { name: /SIGKILL/ }).count(),
      1,
      'told once, though the health tells of it too',
    );
    await page.getByRole('link', { name: /^the configuration has values that do not fit .*; see the log$/ }).waitFor();
    await button('Start Alpha').click();
    await alpha.getByText('running').waitFor();
    const first = await pidOf(app, 'Alpha');
    await button('Restart Alpha').click();
    await page.getByText('Alpha: Service restarted successfully').waitFor();
    t.not(await pidOf(app, 'Alpha'), first);
    await button('Stop Alpha').click();
    await alpha.getByText('stopped').waitFor();
    t.equal(await status.getAttribute('data-tone'), 'off', 'what a user has stopped is no fault');
    await button('Start Alpha').focus();
    await page.keyboard.press('Enter');
    await alpha.getByText('running').waitFor();
    await alpha.getByText(/^CPU/).waitFor();
    t.equal(await row('DUMB API').getByRole('button').count(), 0, 'the host does not stop itself');
    await page.getByRole('link', { name: /^crooked\.port: / }).waitFor();
    await page.getByRole('link', { name: /^The plugin broken has failed: .*cannot <b>load<\/b>/ }).waitFor();

    await alpha.getByRole('link', { name: 'Alpha', exact: true }).click();
    await page.getByRole('heading', { name: 'Alpha' }).waitFor();
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Alpha', 'readers begin at the new view');
    await page.locator('.line', { hasText: '<b id=evil>bold</b>' }).first().waitFor();
    await button('Stop Alpha').click();
    await page.locator('.mark', { hasText: 'stopped' }).waitFor();
    await button('Start Alpha').click();
    await page.locator('.mark', { hasText: 'running' }).waitFor();
    await page.locator('dt', { hasText: 'Memory' }).waitFor();
  });

  await t.test('two hundred services are listed, and only the visible ones are in the document', async t => {
    await go('services');
    await page.getByLabel('Disabled ones, too').check();
    await until(async () => Number.parseInt((await page.locator('.bar .muted').textContent()) ?? '', 10) > SERVICES);
    t.ok((await rowsInDocument()) < 60, 'only what is seen is there');
    await page.keyboard.press('End');
    await page.mouse.wheel(0, 100_000);
    await until(
      async () =>
        (await page.locator('.service').last().getAttribute('aria-posinset')) ===
        (await page.locator('.service').last().getAttribute('aria-setsize')),
    );
    t.ok((await rowsInDocument()) < 60);
    await page.getByLabel('Search services').fill('many 123');
    await row('Many 123').waitFor();
    t.equal(await rowsInDocument(), 1);
    await button('Start Many 123').click();
    await row('Many 123').getByText('running').waitFor();
    await page.getByRole('link', { name: 'Log of Many 123' }).click();
    await page.getByRole('region', { name: 'Log of Many 123' }).waitFor();
  });

  await t.test('a hundred thousand lines are shown, and only the visible ones are in the document', async t => {
    await go('service/Chronicle');
    await page.getByText(/^\d+,\d+ lines, older ones left out$/).waitFor();
    await button('Older lines, too').click();
    await page.getByText('100,000 lines', { exact: true }).waitFor();
    const view = page.getByRole('region', { name: 'Log of Chronicle' });
    await view.getByText('line 99998').waitFor();
    t.ok((await rowsInDocument()) < 100);
    await page.getByLabel('Search the log').fill('needle of the haystack');
    await page.getByText('1 of 100,000 lines').waitFor();
    t.equal(await view.locator('mark').textContent(), 'Needle of the haystack');
    t.equal(await page.locator('.spoken').textContent(), '1 found', 'readers are told once');
    await page.getByLabel('Search the log').fill('');
    await chosen('Show').selectOption('Errors');
    await page.getByText('1 of 100,000 lines').waitFor();
    await chosen('Show').selectOption('All lines');
    await view.getByText('line 99998').waitFor();
    await view.focus();
    await page.keyboard.press('Home');
    await view.getByText('line 0', { exact: false }).first().waitFor();
    t.notOk(await page.getByLabel('Follow the end').isChecked(), 'whoever reads is left where he is');
    await button('Start Chronicle').click();
    await page.getByText('100,001 lines').waitFor();
    await view.getByText('line 0', { exact: false }).first().waitFor();
    await page.getByLabel('Follow the end').check();
    await view.getByText('a line that is new').waitFor();
    await appendFile(log, 'Nov 20, 2026 10:00:02 - INFO - one more\n');
    await view.getByText('one more').waitFor();
    await page.getByText('100,002 lines').waitFor();
    await rename(log, log.replace('.log', '-2026-11-20.log'));
    await appendFile(log.replace('.log', '-2026-11-20.log'), 'Nov 20, 2026 23:59:59 - INFO - the last of the day\n');
    await writeFile(log, 'Nov 21, 2026 00:00:01 - INFO - the first of the next\n');
    await view.getByText('the first of the next').waitFor();
    await view.getByText('the last of the day').waitFor();
    await page.getByText('100,004 lines').waitFor();
    await chosen('Show').selectOption('Errors');
    const failure = 'ERROR - it fails\n    at its.place (1:2)\nNov 21, 2026 00:00:03 - INFO - it goes on';
    await appendFile(log, `Nov 21, 2026 00:00:02 - ${failure}\n`);
    await page.getByText('3 of 100,007 lines').waitFor();
    await view.getByText('at its.place').waitFor();
    await chosen('Show').selectOption('Warnings and errors');
    await page.getByText('3 of 100,007 lines').waitFor();

    await page.getByRole('link', { name: 'Logs', exact: true }).click();
    await chosen('Log of').selectOption('Alpha');
    await page.getByRole('region', { name: 'Log of Alpha' }).waitFor();
    const enable = (first: boolean, second: boolean) =>
      app.post('/config', { updates: { many_1: { enabled: first }, many_2: { enabled: second } } });
    const offered = (name: string, state: 'attached' | 'detached') =>
      page.locator('option', { hasText: name }).waitFor({ state });
    await enable(true, false);
    await offered('Many 001', 'attached');
    await enable(false, true);
    await offered('Many 002', 'attached');
    await offered('Many 001', 'detached');
    t.equal(await chosen('Log of').inputValue(), 'Alpha');
    await enable(false, false);
  });

  await t.test('the graph is drawn from left to right', async t => {
    await go('graph');
    await page.getByText('Dependencies: 2').waitFor();
    const places = await Promise.all(
      ['Alpha', 'Beta', HOSTILE].map(name =>
        page.getByRole('link', { name: `${name} running`, exact: true }).boundingBox(),
      ),
    );
    const lefts = places.map(box => box?.x ?? 0);
    t.same(
      lefts,
      [...new Set(lefts)].toSorted((a, b) => a - b),
      'what is needed stands to the left',
    );
    const picture = await pictured(page.locator('.picture'));
    t.ok(picture.width > 600 && picture.height > 100, `${picture.width} x ${picture.height}`);
    t.ok((picture.pixels['82,96,114'] ?? 0) > 150, 'edges');
    t.ok((picture.pixels['21,112,58'] ?? 0) > 100, 'green for what runs');
    process.kill(await pidOf(app, 'Beta'), 'SIGKILL');
    await page.getByRole('link', { name: 'Beta stopped', exact: true }).waitFor();
    t.ok(((await pictured(page.locator('.picture'))).pixels['179,38,30'] ?? 0) > 30, 'red for what should');
    await page.getByText('The same in words').click();
    await page.getByText('Beta needs Alpha').waitFor();
    await page.getByRole('link', { name: 'Beta stopped', exact: true }).click();
    await page.getByRole('heading', { name: 'Beta' }).waitFor();
  });

  await t.test('charts show the present and the past', async t => {
    await go('metrics');
    const caption = page.locator('figcaption');
    await until(async () => /^Disk: read \d.*written \d/.test((await caption.nth(2).textContent()) ?? ''));
    t.match(await caption.allTextContents(), [
      /^CPU: +\d+\.\d %/,
      /^Memory: +\d+\.\d %/,
      /^Disk/,
      /^Network: received \d.*sent \d/,
    ]);
    const curve = '29,78,216';
    for (const name of ['CPU over time', 'Memory over time', 'Disk over time', 'Network over time']) {
      const chart = page.getByRole('img', { name });
      await chart.scrollIntoViewIfNeeded();
      const picture = await until(async () => {
        const taken = await pictured(chart);
        return (taken.pixels[curve] ?? 0) + (taken.pixels['180,83,9'] ?? 0) > 10 ? taken : undefined;
      });
      t.ok(picture.width > 300 && picture.height >= 180, `${name}: ${picture.width} x ${picture.height}`);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await until(
      async () => ((await pictured(page.getByRole('img', { name: 'CPU over time' }))).pixels['138,180,255'] ?? 0) > 10,
    );
    await page.emulateMedia({ colorScheme: 'light' });
    const asked = page.waitForResponse(/history_series/);
    await chosen('Time').selectOption('7 days');
    t.equal((await asked).status(), 200);
    await page.getByRole('row', { name: /^Alpha/ }).waitFor();
    await page.getByText(/^\/: .* of .*%$/).waitFor();

    await page.route('**/metrics/history_series*', route =>
      route.fulfill({ status: 503, json: { detail: 'it is being moved' } }),
    );
    await chosen('Time').selectOption('6 hours');
    const told = page.getByText('What was kept cannot be shown: it is being moved');
    await told.waitFor();
    const numbers = async () => (await caption.allTextContents()).join();
    const before = await numbers();
    await until(async () => (await numbers()) !== before);
    t.equal(await told.count(), 1, 'the next sample does not hide why there is no history');
    await page.unroute('**/metrics/history_series*');
    await chosen('Time').selectOption('15 minutes');
    await told.waitFor({ state: 'detached' });
  });

  await t.test('plugins with faults come first, and can be searched', async t => {
    await go('plugins');
    await page.getByRole('row', { name: /^broken failed .*it cannot <b>load<\/b>/ }).waitFor();
    t.match(await page.locator('tbody tr').first().textContent(), /^broken/, 'faults come first');
    await page.getByLabel('Only those with faults').check();
    await until(async () => (await page.locator('tbody tr').count()) === 1);
    await page.getByLabel('Only those with faults').uncheck();
    await page.getByLabel('Search plugins').fill('console');
    await until(async () => (await page.locator('tbody tr').count()) === 1);
    await page.locator('tbody summary').click();
    await page.getByText('GET /console', { exact: true }).waitFor();
  });

  await t.test('each view has no serious barrier, on large and small screens', async t => {
    for (const place of PLACES) {
      await go(place);
      await page.locator('.place > *').first().waitFor();
      t.same(await barriers(page), [], `${place} in light colours`);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 360, height: 740 });
      t.same(await barriers(page), [], `${place} in dark colours on a phone`);
      t.ok(
        await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        `${place} is no wider than a phone`,
      );
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1200, height: 800 });
    }
    await go('services');
    await page.reload();
    await button('Stop Alpha').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    t.equal(await page.evaluate('document.activeElement.tagName'), 'H1', 'past the ways to the content');
    const reached: string[] = [];
    await until(async () => {
      await page.keyboard.press('Tab');
      reached.push((await page.evaluate('document.activeElement.getAttribute("aria-label") ?? ""')) as string);
      return reached.includes('Stop Alpha');
    });
    t.equal(await page.locator('#evil').count(), 0, 'nothing that a service says became markup');
  });

  await t.test('the gateway serves the same page', async t => {
    await page.goto(gateway);
    await row('Alpha').getByText('running').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const before = await pidOf(app, 'Alpha');
    await button('Restart Alpha').click();
    await page.getByText('Alpha: Service restarted successfully').waitFor();
    t.not(await pidOf(app, 'Alpha'), before);
  });

  await t.test('an account can be created, and a login is needed then', async t => {
    await app.post('/config/reset-onboarding');
    await page.goto(`${native}/#/begin`);
    await page.reload();
    await page.getByLabel('User name').fill('owner');
    await page.getByLabel('Password, 8 characters or more').fill(PASSWORD);
    await button('Create the account').click();
    await page.getByText('Done: whoever comes here must log in.').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await button('Log out').click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    t.equal(await page.getByRole('link', { name: 'Services' }).count(), 0);
    t.same(await barriers(page), []);
    await page.getByLabel('User name').fill('owner');
    await page.getByLabel('Password').fill('wrong horse battery');
    await button('Log in').click();
    await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await button('Log out').waitFor();
    await go('services');
    await row('Alpha').getByText('running').waitFor();

    const kept = "JSON.parse(sessionStorage.getItem('stackwarden.tokens'))";
    const spoil = (names: string) =>
      page.evaluate(`sessionStorage.setItem('stackwarden.tokens', JSON.stringify({ ...${kept}, ${names} }))`);
    await spoil("access_token: 'expired'");
    await page.reload();
    await row('Alpha').getByText('running').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    t.not(await page.evaluate(`${kept}.access_token`), 'expired', 'an expired token is exchanged');
    await spoil("access_token: 'expired', refresh_token: 'expired'");
    await page.reload();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    t.equal(await page.evaluate(kept), null);
    await page.getByLabel('User name').fill('owner');
    await page.getByLabel('Password').fill(PASSWORD);
    await button('Log in').click();
    await row('Alpha').getByText('running').waitFor();
  });

  await t.test('the console survives a restart of the host, also beside a frontend', async t => {
    await app.stop();
    await page.getByText('The connection to the host is lost.').waitFor();
    await page.getByText('Not connected').waitFor();
    const tried = page.waitForEvent('websocket');
    await button('Try now').click();
    await tried;
    await page.route(`${native}/`, route => route.fulfill({ body: 'the page of another version' }));
    const web = testDir(t, { 'index.html': '<h1>A frontend</h1>' });
    app = await start({ gateway: { enabled: true, port, static_dir: web } }, options);
    await page.getByText('Live', { exact: true }).waitFor();
    await row('Alpha').getByText('running').waitFor();
    await page.getByText('The host has another version of this page.').waitFor();
    await page.unroute(`${native}/`);
    await button('Reload').click();
    await page.getByText('The host has another version of this page.').waitFor({ state: 'detached' });
    await row('Alpha').getByText('running').waitFor();

    await page.goto(gateway);
    await page.getByRole('heading', { name: 'A frontend' }).waitFor();
    await page.goto(`${gateway}/api/console`);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.getByLabel('User name').fill('owner');
    await page.getByLabel('Password').fill(PASSWORD);
    await button('Log in').click();
    await row('Alpha').getByText('running').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    t.equal(await page.evaluate('sessionStorage.length'), 0, 'web interfaces of this origin find no token');
  });

  t.same(faults, [], 'no error, no violation of the policy, no request to elsewhere');
});

async function writeLog(file: string): Promise<void> {
  const lines = Array.from({ length: LINES - 1 }, (_, index) => `Nov 20, 2026 10:00:00 - INFO - line ${index}`);
  const needle = 'Nov 20, 2026 10:00:01 - ERROR - the Needle of the \u001b[31mhaystack\u001b[0m';
  await mkdir(path.dirname(file));
  await writeFile(file, `${lines.toSpliced(500, 0, needle).join('\n')}\n`);
}
