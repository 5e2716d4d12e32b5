// A web frontend that is updated from its own page: the page follows its replacement, and shows the result.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { launchBrowser } from '../../support/browser.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { pidOf } from '../../support/kids.ts';
import { makeShelf } from '../../support/shelf.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-dumb-frontend', 'gateway'].every(name => existsSync(path.join(pluginsDir, name)));
const NAME = 'DUMB Frontend';
const PATIENCE_MS = 120_000;

const support = (name: string) => readFile(fileURLToPath(new URL(`../../support/${name}`, import.meta.url)), 'utf8');

t.test('the frontend is replaced while a browser watches', { skip, timeout: 400_000 }, async t => {
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const shelf = await makeShelf(t);
  const [apiPort, port] = [await freePort(), await freePort()];
  const files = {
    'frontend-app.cjs': await support('frontend-app.cjs'),
    'frontend-page.html': await support('frontend-page.html'),
  };
  const block = await shelf.service(NAME);
  const shipped = JSON.parse(await readFile(path.join(pluginsDir, '../templates/services/dumb_frontend.json'), 'utf8'));
  const place = (file: string) => path.join(String(block.config_dir), file);
  for (const [name, text] of Object.entries(files)) await writeFile(place(name), text);
  const { install } = JSON.parse(await readFile(path.join(shelf.templatesDir, 'gadget.json'), 'utf8'));
  await writeFile(
    path.join(shelf.templatesDir, 'dumb_frontend.json'),
    JSON.stringify({ ...shipped, install: { ...install, markers: ['frontend-app.cjs'] } }),
  );
  await shelf.publish('v2.0.0', 'good', files);
  const app = await startHost({
    plugins: 'all',
    pluginDirs: shelf.pluginDirs,
    configDir: shelf.configDir,
    listen: { port: apiPort },
    config: {
      dumb: {
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
        api_service: { port: apiPort },
        onboarding: { needs_onboarding: false },
        gateway: { enabled: true, port },
        frontend: {
          enabled: true,
          host: '127.0.0.1',
          port,
          config_dir: block.config_dir,
          command: [process.execPath, 'frontend-app.cjs'],
          platforms: [],
          exclude_dirs: ['data'],
        },
      },
    },
  });
  t.teardown(() => app.stop());
  await app.post('/auth/skip-setup');
  await app.post('/config/onboarding-completed');
  await until(async () => (await app.get('/process/startup-status')).body.terminal, { timeoutMs: PATIENCE_MS });
  const before = await pidOf(app, NAME);

  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`http://127.0.0.1:${port}`);
  const card = page.locator(`section[id="${NAME}"]`);
  await card.locator('b', { hasText: 'running' }).waitFor();
  await card.locator('text=update').click();
  await page.waitForSelector('text=updated: v2.0.0 is installed in place of v1.0.0');
  t.not(await pidOf(app, NAME), before);
  t.equal(await shelf.present(NAME), 'v2.0.0');
  await page.reload();
  await card.locator('b', { hasText: 'running' }).waitFor();
  const { body } = await app.get('/process/update-notices');
  t.match(body.applied, [{ process_name: NAME, current_version: 'v2.0.0', display_name: NAME }]);
});
