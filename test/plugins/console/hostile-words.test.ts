// Names, log lines, reasons and refusals from services, files and callers are shown as text: a browser that visits
// every view runs no script in them.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { launchBrowser } from '../../support/browser.ts';
import { openWatched } from '../../support/console-page.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['console', 'gateway', 'wizard', 'docs', 'logs'].every(name => existsSync(path.join(pluginsDir, name)));
const PLUGINS = ['console', 'gateway', 'wizard', 'docs', 'logs', 'metrics', 'groups', 'health', 'readiness'];
const EVIL = [
  '<img src=x onerror="window.ran=1">',
  '<script>window.ran=1</script>',
  '<svg/onload=window.ran=1>',
  '"\'><iframe srcdoc="<script>parent.ran=1</script>">',
  'javascript:window.ran=1',
];
const everything = EVIL.join(' ');

t.test('no text runs as a script', { skip, timeout: 400_000 }, async t => {
  const [apiPort, port] = [await freePort(), await freePort()];
  const [native, gateway] = [`http://127.0.0.1:${apiPort}`, `http://127.0.0.1:${port}`];
  const block = (name: string, more: object) => ({
    enabled: false,
    process_name: name,
    command: ['sh', '-c', 'printf "%s\\n" "$EVIL" "ERROR $EVIL"; exec sleep 600'],
    env: { EVIL: everything },
    ...more,
  });
  const app = await startHost({
    plugins: PLUGINS,
    listen: { port: apiPort },
    config: {
      ...Object.fromEntries(EVIL.map((evil, index) => [`named_${index}`, block(evil, { groups: [evil], port: evil })])),
      failing: block('Failing', { command: [`/no/${everything}`], enabled: true }),
      talking: block('Talking', {
        readiness: { http: `javascript:${everything}` },
        wait_for_dir: everything,
        wait_timeout_seconds: 1,
      }),
      lines: block('Lines', {}),
      dumb: { gateway: { enabled: true, port }, api_service: { port: apiPort } },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Lines')).status, 200);
  const refused = ['Failing', 'Talking', everything].map(name => start(app, name));
  for (const { status } of await Promise.all(refused)) t.ok(status >= 400, 'it is refused');
  await until(async () => (await app.get('/logs?process_name=Lines')).text.includes('onerror'), { what: 'the lines' });

  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const { page, faults } = await openWatched(browser, [native, gateway]);
  page.on('dialog', dialog => void dialog.dismiss());
  const names = ['Lines', 'Failing', everything, ...EVIL];
  const named = names.flatMap(name => ['service', 'log'].map(view => `${view}/${encodeURIComponent(name)}`));
  const views = ['services', 'log', 'graph', 'metrics', 'plugins', 'begin', encodeURIComponent(everything), ...named];
  const left = () =>
    page.evaluate(`[window.ran, document.querySelectorAll('img[src=x], iframe, [onerror], [onload], a[href^="javascript:" i]').length,
      [...document.scripts].filter(script => script.textContent.includes('window.ran')).length]`);
  for (const view of views) {
    await page.goto(`${native}/#/${view}`);
    await page.getByRole('main').waitFor();
    t.same(await left(), [undefined, 0, 0], view);
  }
  await page.goto(`${native}/#/log/Lines`);
  await page.getByText('onerror').first().waitFor();
  t.same(await left(), [undefined, 0, 0], 'the lines are shown, and not run');
  for (const address of [gateway, `${gateway}/${encodeURIComponent(everything)}`, `${native}/docs`]) {
    await page.goto(address);
    t.same(await left(), [undefined, 0, 0], address);
  }
  t.same(faults, [], 'the policy holds');
});
