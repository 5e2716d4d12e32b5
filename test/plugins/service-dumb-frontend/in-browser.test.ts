// The web frontend in a browser: embedded web interfaces, logs of services, and its own restart.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { launchBrowser } from '../../support/browser.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-dumb-frontend', 'service-ui', 'gateway'].every(name => existsSync(path.join(pluginsDir, name)));
const support = (name: string) => fileURLToPath(new URL(`../../support/${name}`, import.meta.url));
const PATIENCE_MS = 120_000;
const QUICK = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };
const saved = async (app: TestHost) => JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));

let browser: Browser;
t.before(async () => {
  if (!skip) browser = await launchBrowser();
});
t.teardown(() => browser?.close());

async function openPage(t: Test): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  t.teardown(() => page.close());
  return page;
}

/**
 * A host that runs the frontend and an application with a web interface and no log configuration. A start of the
 * frontend waits for the directory `awaited`.
 */
async function openManaged(t: Test) {
  const directory = testDir(t, {});
  await chmod(directory, 0o755);
  const awaited = path.join(directory, 'awaited');
  await mkdir(awaited);
  const [apiPort, port, appPort, uiPort] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const node = process.execPath;
  const app = await startHost({
    plugins: 'offline',
    listen: { port: apiPort },
    config: {
      dumb: {
        startup: QUICK,
        api_service: { port: apiPort },
        onboarding: { needs_onboarding: false },
        gateway: { enabled: true, port, ui_port: uiPort },
        frontend: {
          enabled: true,
          host: '127.0.0.1',
          port,
          config_dir: path.dirname(support('frontend-app.cjs')),
          command: [node, support('frontend-app.cjs')],
          log_file: 'frontend.log',
          wait_for_dir: awaited,
        },
      },
      films: {
        enabled: true,
        process_name: 'Films',
        command: ['sh', '-c', `echo "WARNING the shelf is full"; exec ${node} ${support('web-app.cjs')} ${appPort}`],
        port: appPort,
        ui: true,
        stop_grace_seconds: 2,
      },
    },
  });
  t.teardown(() => app.stop());
  await app.post('/auth/skip-setup');
  await app.post('/config/onboarding-completed');
  await until(async () => (await app.get('/process/startup-status')).body.terminal, { timeoutMs: 60_000 });
  return { app, awaited, page: await openPage(t), base: `http://127.0.0.1:${port}` };
}

const runOf = (page: Page) => page.evaluate('document.body.dataset.run') as Promise<string>;

t.test(
  'embedded interfaces and logs of every service, without a reverse proxy',
  { skip, timeout: 400_000 },
  async t => {
    const { app, page, base } = await openManaged(t);
    await page.goto(base);
    await page.click('text=Interfaces on');
    await page.waitForSelector('text=Interfaces off');
    const { traefik, dumb } = await saved(app);
    t.notOk(traefik?.enabled, 'a proxy that is not installed is not enabled');
    t.equal(dumb.service_ui.enabled, true);

    await page.click('text=Films');
    const frame = page.frameLocator('iframe');
    await frame.locator('text=ping on /socket').waitFor();
    const inner = await until(() => page.frames().find(candidate => candidate.url().endsWith('/ui/films/')));
    t.equal(
      await inner.evaluate('window.relative && window.absolute'),
      true,
      'its parts, by relative and absolute names',
    );
    await frame.locator('button').click();
    await frame.locator('text=/"body":"word=hello"/').waitFor();

    const row = page.locator('tr', { hasText: 'the shelf is full' });
    await row.waitFor();
    const [time = '', level, service] = await row.locator('td').allTextContents();
    t.notOk(Number.isNaN(Date.parse(time)), time);
    t.same([level, service], ['WARNING', 'Films']);
  },
);

t.test('the frontend restarts itself from its own card', { skip, timeout: 400_000 }, async t => {
  const { app, awaited, page, base } = await openManaged(t);
  await page.goto(base);
  const card = page.locator('section[id="DUMB Frontend"]');
  await card.locator('b', { hasText: 'running' }).waitFor();
  const before = await runOf(page);
  const during = await openPage(t);
  await rmdir(awaited);
  await card.locator('text=restart').click();
  await page.waitForSelector('text=Service is being restarted');
  await until(async () => {
    const answer = await fetch(`${base}/services/Films`, { headers: { accept: 'text/html' } }).catch(() => null);
    return answer?.status === 503 && /becomes DUMB Frontend/.test(await answer.text());
  });
  await mkdir(awaited);
  await during.goto(`${base}/services/Films`);
  await during.waitForSelector('tr >> text=the shelf is full');
  t.not(await runOf(during), before, 'whoever came meanwhile is led to the new one');

  await page.waitForFunction("document.querySelector('section[id=\"DUMB Frontend\"] b').textContent === 'running'");
  t.equal(await page.textContent('#message'), 'Service is being restarted', 'and the page that asked goes on');
  const { body } = await app.get('/process/service-status?process_name=DUMB%20Frontend&include_health=true');
  t.match(body, { status: 'running', restart: { last_failure_reason: null } });
});
