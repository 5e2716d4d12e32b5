// R27: a plugin folder is added, broken, mended and removed while the host runs, and nobody else notices.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { until } from '../support/until.ts';

const neighbour = `export default { name: 'neighbour', host: '^1', setup (host) {
  globalThis.neighbourSetUps = (globalThis.neighbourSetUps ?? 0) + 1
  host.route({ method: 'GET', path: '/neighbour', summary: 'x', capability: 'neighbour', handle: () => ({ fine: true }) })
} }`;

const guest = (answer: string) => `import { createServer } from 'node:net'
import { text } from './text.js'
export default { name: 'guest', host: '^1', async setup (host) {
  const server = createServer().listen(0, '127.0.0.1', () => { globalThis.guestPort = server.address().port })
  host.every(5, () => { globalThis.guestTicks = (globalThis.guestTicks ?? 0) + 1 })
  host.route({ method: 'GET', path: '/guest', summary: 'x', capability: 'guest', handle: () => ({ answer: '${answer}', text }) })
  return () => new Promise(resolve => server.close(resolve))
} }`;

t.test('added, changed, broken, mended, removed', async t => {
  const dir = testDir(t, { neighbour: { 'index.js': neighbour } });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  const failures: number[] = [];
  let asking = true;
  const asker = (async () => {
    while (asking) {
      const { status } = await app.get('/neighbour');
      if (status !== 200) failures.push(status);
    }
  })();
  const answers = (expected: unknown) => until(async () => (await app.get('/guest')).body?.answer === expected);

  const folder = path.join(dir, 'guest');
  await mkdir(folder);
  await writeFile(path.join(folder, 'text.js'), `export const text = 'one'`);
  await writeFile(path.join(folder, 'index.js'), guest('first'));
  await answers('first');
  t.equal(app.host.plugins().find(plugin => plugin.name === 'guest')?.state, 'ready');

  // A change of any file of the folder loads the whole folder anew.
  await writeFile(path.join(folder, 'text.js'), `export const text = 'two'`);
  await until(async () => (await app.get('/guest')).body?.text === 'two');

  await writeFile(path.join(folder, 'index.js'), 'export default {{{');
  await until(() => app.host.plugins().find(plugin => plugin.name === 'guest')?.state === 'failed');
  t.equal((await app.get('/guest')).status, 404);

  await writeFile(path.join(folder, 'index.js'), guest('mended'));
  await answers('mended');

  await rm(folder, { recursive: true });
  await until(() => app.host.plugins().every(plugin => plugin.name !== 'guest'));
  t.equal((await app.get('/guest')).status, 404);
  const ticks = () => (globalThis as { guestTicks?: number }).guestTicks;
  const last = ticks();
  await t.rejects(
    fetch(`http://127.0.0.1:${(globalThis as { guestPort?: number }).guestPort}/`),
    'its listener is closed',
  );
  for (let turn = 0; turn < 20; turn += 1) await app.get('/neighbour');
  t.equal(ticks(), last, 'its timer is gone');

  asking = false;
  await asker;
  t.same(failures, [], 'no other route failed meanwhile');
  t.equal((globalThis as { neighbourSetUps?: number }).neighbourSetUps, 1, 'the neighbour was not set up again');
});
