// Missing programs of services: they are installed beside the running release, swapped in at once, kept or rolled back,
// and not installed where the machine has its own.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { pidOf, start, status, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { ask, makeShop, startShopHost } from '../../support/shop.ts';
import { until } from '../../support/until.ts';

const root = process.getuid?.() === 0;
const NOBODY = 65_534;

t.test('programs are installed, replaced and kept', async t => {
  const shop = await makeShop(t);
  const { block, place } = shop;
  await shop.publish('v1.0.0', { 'lib/code': 'one', 'old.txt': 'one', 'data/seed': 'one' });
  await shop.template('widget', { build: { maker: {} }, notes: 'https://example.org/{version}' });
  await shop.template('lacking', { build: { maker: { lacks: 'Lacking needs a saw, which' } } });
  await shop.template('unmade', { build: { maker: { script: 'exit 3' } } });
  await shop.template('huge', { facts: { shop: path.join(path.dirname(shop.configDir), 'shop'), bytes: 2 ** 60 } });
  const program = path.join(path.dirname(shop.configDir), 'system-program.sh');
  await shop.template(
    'system',
    {
      source: 'counter',
      facts: { program, shop: path.join(path.dirname(shop.configDir), 'shop') },
      directory: undefined,
      markers: [program],
      versionFile: undefined,
    },
    { launch: { command: ['sh', program] } },
  );
  const shared = path.join(path.dirname(shop.configDir), 'shared');
  await shop.template(
    'paired',
    { directory: shared, ownDirectory: path.join(shared, 'instances/{instance}') },
    { launch: { command: ['sh', '{install_dir}/run.sh'] } },
  );
  await shop.template('elsewhere', { source: 'nobody' });
  const blocks: Record<string, Record<string, unknown>> = {};
  const instance = (key: string, name: string, more: Record<string, unknown> = {}) => {
    blocks[key] = { instances: { ...((blocks[key]?.instances ?? {}) as object), [name]: block(name, more) } };
  };
  instance('widget', 'Fresh', {
    clear_on_update: true,
    exclude_dirs: ['data', path.join(place('Fresh'), 'lib/cache')],
  });
  instance('widget', 'Own', { command: ['sleep', '1000'] });
  const mine = path.join(path.dirname(shop.configDir), 'mine.sh');
  await writeFile(mine, 'exec sleep 1000\n');
  instance('widget', 'Shell', { command: ['sh', '-c', `cd / && exec sh ${mine}`] });
  instance('widget', 'Replaced');
  instance('widget', 'Stopped');
  instance('lacking', 'Lacking');
  instance('unmade', 'Unmade');
  instance('huge', 'Huge');
  instance('elsewhere', 'Elsewhere');
  instance('paired', 'Moving', { clear_on_update: true });
  instance('paired', 'Held Back', { pinned_version: 'v1.0.0' });
  instance('system', 'System');
  const plugins = ['installs', 'setup', 'services', 'own-shop', 'config'];
  const app = await startShopHost(shop, blocks, { plugins });
  t.teardown(() => app.stop());
  const inPlace = (name: string, file: string) => readFile(path.join(place(name), file), 'utf8').catch(() => null);
  const drafts = (name: string) =>
    readdir(path.join(place(name), '.stackwarden')).then(
      names => names.filter(entry => entry.startsWith('draft')),
      () => [],
    );

  await t.test('a missing program is installed before the start, with progress', async t => {
    await shop.close();
    const started = start(app, 'Fresh');
    const seen = await until(async () => {
      const found = await status(app, 'Fresh');
      return found.install?.phase === 'fetching' ? found : undefined;
    });
    t.match(seen, { status: 'starting', install: { text: 'brings v1.0.0', percent: 50 } });
    const { body } = await app.get('/process/processes');
    const entry = body.processes.find((one: { process_name: string }) => one.process_name === 'Fresh');
    t.match(entry.install, { phase: 'fetching' });
    t.notOk(existsSync(path.join(place('Fresh'), 'run.sh')), 'nothing is in place before all is complete');
    await shop.open();
    t.match(await started, { status: 200 });
    t.match(await status(app, 'Fresh'), { status: 'running', install: null });
    t.equal(await inPlace('Fresh', 'version.txt'), 'v1.0.0\n');
    t.equal(await inPlace('Fresh', 'origin.txt'), 'shop');
    if (root) t.equal(await inPlace('Fresh', 'made.txt'), `${NOBODY}\n`, 'it is built by the user of the services');
    if (root) t.match(await stat(path.join(place('Fresh'), 'lib/code')), { uid: NOBODY, gid: NOBODY });
    t.same(await drafts('Fresh'), []);
    t.match((await ask(app, 'installed', 'Fresh')).body.value, { version: 'v1.0.0', previousVersion: null });
    const told = async (name: string) => (await app.get(`/process?process_name=${name}`)).body.install_info;
    t.match(await told('Fresh'), { version: 'v1.0.0', installed_at: Number, previous_version: null, shared_with: [] });
    t.equal(await told('Stopped'), null, 'it is not installed');
    t.equal(await told('DUMB%20API'), null, 'nothing installs it');
  });

  await t.test('a release replaces another, and kept files are not touched', async t => {
    const at = (file: string) => path.join(place('Fresh'), file);
    await mkdir(at('lib/cache'), { recursive: true });
    for (const file of ['data/mine', 'lib/cache/mine', 'stray.txt']) await writeFile(at(file), 'mine');
    const kept = await stat(at('data/mine'));
    await shop.publish('v2.0.0', { 'lib/code': 'two', 'new.txt': 'two', 'data/seed': 'two', 'lib/cache/theirs': 'x' });
    t.match((await ask(app, 'latest', 'Fresh')).body.value, {
      version: 'v2.0.0',
      notesUrl: 'https://example.org/2.0.0',
    });
    const pid = await pidOf(app, 'Fresh');
    t.equal((await ask(app, 'prepare', 'Fresh')).body.value, 'v2.0.0');
    t.equal(await inPlace('Fresh', 'lib/code'), 'one', 'the present release is not changed');
    t.equal(await pidOf(app, 'Fresh'), pid, 'and runs on');
    await stop(app, 'Fresh');
    t.equal((await ask(app, 'swap', 'Fresh')).status, 200);
    t.equal(await inPlace('Fresh', 'lib/code'), 'two');
    t.equal(await inPlace('Fresh', 'version.txt'), 'v2.0.0\n');
    t.equal(await inPlace('Fresh', 'old.txt'), null, 'clear_on_update');
    t.equal(await inPlace('Fresh', 'stray.txt'), null);
    t.equal(await inPlace('Fresh', 'data/seed'), 'one', 'an excluded directory keeps what it had');
    t.match(await stat(at('data/mine')), { ino: kept.ino, mtimeMs: kept.mtimeMs });
    t.same(await readdir(at('lib/cache')), ['mine'], 'also one inside of what is replaced');
    t.match((await ask(app, 'installed', 'Fresh')).body.value, { version: 'v2.0.0', previousVersion: 'v1.0.0' });

    await writeFile(at('data/later'), 'mine');
    t.match((await ask(app, 'restorePrevious', 'Fresh')).body.value, { version: 'v1.0.0', previousVersion: null });
    t.equal(await inPlace('Fresh', 'lib/code'), 'one');
    t.equal(await inPlace('Fresh', 'old.txt'), 'one');
    t.equal(await inPlace('Fresh', 'stray.txt'), 'mine');
    t.equal(await inPlace('Fresh', 'new.txt'), null);
    t.equal(await inPlace('Fresh', 'data/later'), 'mine');
    t.match(await ask(app, 'restorePrevious', 'Fresh'), { status: 409, body: { detail: /install one by its number/ } });
    t.match(await start(app, 'Fresh'), { status: 200 });
    await until(async () => (await readdir(at('.stackwarden'))).length === 0, { what: 'the replaced releases to go' });
  });

  await t.test('what is excluded while a release is prepared is not touched either', async t => {
    const at = (file: string) => path.join(place('Fresh'), file);
    await stop(app, 'Fresh');
    const mine = ['notes/mine', 'other/mine'];
    for (const file of mine) {
      await mkdir(path.dirname(at(file)));
      await writeFile(at(file), 'mine');
    }
    await shop.close();
    const prepared = ask(app, 'prepare', 'Fresh', { selector: { kind: 'pinned', version: 'v2.0.0' } });
    await until(async () => (await drafts('Fresh')).length === 1, { what: 'the preparation' });
    for (const [name, updates] of [
      ['Fresh', { exclude_dirs: ['notes'] }],
      ['Elsewhere', { config_dir: at('other') }],
    ] as const)
      t.match(await app.post('/config', { process_name: name, updates }), { status: 200 });
    await shop.open();
    t.match(await prepared, { status: 200 });
    t.equal((await ask(app, 'swap', 'Fresh')).status, 200);
    t.equal(await inPlace('Fresh', 'version.txt'), 'v2.0.0\n');
    for (const file of mine) t.equal(await inPlace('Fresh', file), 'mine', file);
    t.equal(await inPlace('Fresh', 'data/mine'), 'mine', 'nor what was excluded before');
    await ask(app, 'restorePrevious', 'Fresh');
    t.match(await start(app, 'Fresh'), { status: 200 });
    await until(async () => (await readdir(at('.stackwarden'))).length === 0, { what: 'the replaced releases to go' });
  });

  await t.test('an instance that selects another release has a folder of its own', async t => {
    const own = path.join(shared, 'instances/held_back');
    const versionIn = (directory: string) => readFile(path.join(directory, 'version.txt'), 'utf8');
    for (const name of ['Held Back', 'Moving']) t.match(await start(app, name), { status: 200 });
    t.equal(await versionIn(own), 'v1.0.0\n');
    t.equal(await versionIn(shared), 'v2.0.0\n');
    t.match((await ask(app, 'installed', 'Held Back')).body.value, { version: 'v1.0.0', sharedWith: [] });
    await ask(app, 'prepare', 'Moving', { selector: { kind: 'pinned', version: 'v1.0.0' } });
    await ask(app, 'swap', 'Moving');
    t.equal(await versionIn(shared), 'v1.0.0\n');
    t.equal(await versionIn(own), 'v1.0.0\n', 'it is not cleared with the folder around it');
  });

  await t.test('a prepared release can be discarded', async t => {
    t.equal((await ask(app, 'prepare', 'Fresh', { selector: { kind: 'pinned', version: 'v2.0.0' } })).status, 200);
    t.equal((await drafts('Fresh')).length, 1);
    await ask(app, 'discard', 'Fresh');
    t.same(await drafts('Fresh'), []);
    t.equal(await inPlace('Fresh', 'version.txt'), 'v1.0.0\n');
  });

  await t.test('a program of the machine is used as it is', async t => {
    await mkdir(place('Own'), { recursive: true });
    t.match(await start(app, 'Own'), { status: 200 });
    t.same(await readdir(place('Own')), []);
    await mkdir(place('Shell'), { recursive: true });
    t.match(await start(app, 'Shell'), { status: 200 }, 'a text for a shell that ends with a file');
    t.same(await readdir(place('Shell')), []);
  });

  await t.test('a program of the user is not replaced by a release', async t => {
    t.match(await start(app, 'Replaced'), { status: 200 });
    await stop(app, 'Replaced');
    await rm(path.join(place('Replaced'), 'version.txt'));
    t.match(await start(app, 'Replaced'), { status: 200 });
    t.ok(await inPlace('Replaced', 'version.txt'), 'a release that lacks something is installed again');
    await stop(app, 'Replaced');
    await rm(path.join(place('Replaced'), 'version.txt'));
    const updates = { command: ['sh', '-c', 'exec sleep 1000'] };
    t.match(await app.post('/config', { process_name: 'Replaced', updates }), { status: 200 });
    t.match(await start(app, 'Replaced'), { status: 200 });
    t.equal(await inPlace('Replaced', 'version.txt'), null);
  });

  await t.test('a stop cancels an installation', async t => {
    await shop.close();
    const started = start(app, 'Stopped');
    await until(async () => (await status(app, 'Stopped')).install?.phase === 'fetching');
    await stop(app, 'Stopped');
    t.match(await started, { status: 409 });
    await shop.open();
    await until(async () => (await drafts('Stopped')).length === 0, { what: 'nothing left behind' });
    t.match(await status(app, 'Stopped'), { status: 'stopped', install: null });
    t.notOk(existsSync(path.join(place('Stopped'), 'run.sh')));
  });

  await t.test('a release for the machine itself is placed once its service is stopped', async t => {
    const prepare = (version: string) => ask(app, 'prepare', 'System', { selector: { kind: 'pinned', version } });
    const placed = () => readFile(program, 'utf8');
    t.match(await start(app, 'System'), { status: 200 });
    t.match((await ask(app, 'installed', 'System')).body.value, { version: 'v2.0.0', previousVersion: null });
    await prepare('v1.0.0');
    t.match(await placed(), /v2/, 'nothing is changed before');
    await shop.refuse({ status: 502, detail: 'shop.example does not answer' });
    await stop(app, 'System');
    await ask(app, 'swap', 'System');
    t.match(await placed(), /v1/);
    const back = (await ask(app, 'restorePrevious', 'System')).body.value;
    t.match(back, { version: 'v2.0.0', previousVersion: 'v1.0.0' });
    t.match(await placed(), /v2/, 'the release before is kept');
    await shop.refuse(null);
    await prepare('v6.6.6');
    t.match(await ask(app, 'swap', 'System'), { status: 409, body: { detail: /v6\.6\.6 cannot be placed/ } });
    t.match(await placed(), /v2/, 'what cannot be placed is taken back');
    t.match((await ask(app, 'installed', 'System')).body.value, { version: 'v2.0.0', previousVersion: 'v1.0.0' });
    await ask(app, 'discard', 'System');
    const kept = () => readdir(path.join(shop.configDir, 'installs/packages'));
    t.equal((await kept()).length, 2, 'two releases are kept');

    await rm(program);
    await shop.close();
    const started = start(app, 'System');
    await until(async () => (await kept()).length === 3, { what: 'a draft' });
    await stop(app, 'System');
    t.match(await started, { status: 409 });
    await shop.open();
    await until(async () => (await kept()).length === 2, { what: 'what nobody waits for any more to be gone' });
  });

  await t.test('an obstacle is reported in one sentence', async t => {
    for (const [name, status, detail] of [
      ['Lacking', 400, /^Lacking cannot be installed: it needs a saw, which is missing; get it$/],
      ['Unmade', 500, /^Unmade cannot be installed: .* ended with 3$/],
      ['Huge', 507, /^Huge cannot be installed: the file system of .* lacks \d+ MiB for it; free some space$/],
      ['Elsewhere', 400, /is not installed; it is usually obtained from a shop$/],
    ] as const) {
      t.match(await start(app, name), { status, body: { detail } }, name);
      t.same(await drafts(name), [], 'nothing is left behind');
    }
    const line = await until(async () =>
      (await ownLog(app)).find(text => text.includes('Lacking cannot be installed')),
    );
    t.match(
      line,
      /process: Lacking cannot be installed: it needs a saw, which is missing; get it$/,
      'said once in the log',
    );
    await shop.refuse({ status: 0, detail: 'shop.example does not answer' });
    t.match(await start(app, 'Stopped'), {
      status: 502,
      body: { detail: /^Stopped cannot be installed: shop\.example does not answer; check the network/ },
    });
    await shop.refuse(null);
    t.match(await ask(app, 'latest', 'Elsewhere'), { status: 400, body: { detail: /install it by hand/ } });
    t.match(await ask(app, 'latest', 'Nobody'), { status: 404 });
  });
});
