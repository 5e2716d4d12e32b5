// The first steps in a browser: a service that cannot be started does not block the rest.
import { existsSync } from 'node:fs';
import { chmod, copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { launchBrowser } from '../../support/browser.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { freePort } from '../../support/stackwarden.ts';

const skip = !['wizard', 'onboarding', 'gateway'].every(name => existsSync(path.join(pluginsDir, name)));
const pageFile = fileURLToPath(new URL('../../support/frontend-page.html', import.meta.url));
const QUICK = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };
const PATIENCE_MS = 120_000;
const saved = async (app: TestHost) => JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));

t.test('a core service whose program is missing does not lock the wizard', { skip, timeout: 400_000 }, async t => {
  const dir = testDir(t, { console: {} });
  await chmod(dir, 0o755);
  await copyFile(pageFile, path.join(dir, 'console', 'index.html'));
  const port = await freePort();
  const app = await startHost({
    plugins: 'offline',
    config: {
      dumb: { startup: QUICK, gateway: { enabled: true, port, static_dir: path.join(dir, 'console') } },
      sonarr: { instances: { Default: { command: ['sleep', '600'], config_dir: dir, config_file: `${dir}/a.xml` } } },
    },
  });
  t.teardown(() => app.stop());
  const before = await saved(app);
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.click('text=Skip');
  await page.waitForURL('**/onboarding');
  await page.click('text=Radarr');
  await page.waitForFunction("/not installed/.test(document.getElementById('message').textContent)");
  t.match(await page.textContent('#message'), /Radarr.*https:/, 'the reason, and where the program is to be had');
  const { radarr, dumb } = await saved(app);
  t.equal(radarr, before.radarr, 'nothing of it is left');
  t.not(dumb.onboarding_completed, true);

  await page.reload();
  await page.waitForSelector('button:text("Sonarr")');
  t.equal(await page.textContent('#message'), '', 'the wizard begins anew');
  await page.click('button:text("Sonarr")');
  await page.waitForFunction("location.pathname === '/' || !/^(Starting|$)/.test(document.body.innerText.trim())");
  t.equal(new URL(page.url()).pathname, '/', String(await page.textContent('#message')));
  await page.locator('section[id^="Sonarr"] b', { hasText: 'running' }).waitFor();
  t.equal((await saved(app)).dumb.onboarding_completed, true, 'and what can be started is, to the end');
});
