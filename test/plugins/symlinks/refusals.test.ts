// Requests about links that a host refuses, those that it runs in parallel, and what a killed host leaves.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { found, linkDir, linksOf, plant, type Tree } from '../../support/links.ts';
import { freePort, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const RULES = [{ from_prefix: '/old', to_prefix: '/new' }];
const PLUGINS = ['symlinks', 'services', 'process', 'service-decypharr'];
const NO_SUCH = '0'.repeat(32);
const FOLDERS = 100;
const LINKS = 60;

function library(): Tree {
  const links = Object.fromEntries(Array.from({ length: LINKS }, (_, link) => [`e${link}`, { to: `/old/${link}` }]));
  return Object.fromEntries(Array.from({ length: FOLDERS }, (_, folder) => [`show${folder}`, links]));
}

t.test('a host and its links', async t => {
  const dir = linkDir(t, {
    config: {},
    mnt: {},
    root: { a: { x: { to: '/old/x' } } },
    esc: { to: '/etc' },
    loop: { to: 'loop' },
  });
  const configDir = path.join(dir, 'config');
  const root = path.join(dir, 'root');
  const down = path.join(dir, 'mnt/files');
  const port = await writeConfig(configDir, {
    decypharr: {
      enabled: true,
      process_name: 'Files',
      mount_type: 'rclone',
      mount_path: down,
      command: ['/bin/false'],
      port: await freePort(),
    },
  });
  // In a process group of its own.
  const begin = () => startStackwarden(configDir, port, { plugins: PLUGINS, within: ['setsid'] });
  let host = await begin();
  t.teardown(() => host.child.kill('SIGKILL'));
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  const call = async (place: string, body?: object): Promise<{ status: number; body: any }> => {
    const init = body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const answer = await fetch(host.base + place, init);
    return { status: answer.status, body: await answer.json() };
  };
  const repair = (body: object) => call('/process/symlink-repair', body);
  const job = (id: string) => call(`/process/symlink-job-status?job_id=${id}`);

  await t.test('impossible requests are refused, and change nothing', async t => {
    const before = found(root);
    const config = path.join(configDir, 'stackwarden.json');
    const text = readFileSync(config, 'utf8');
    const migration = (from: string, to: string) => ({ from_root: from, to_root: path.join(dir, to) });
    const refused: [object, RegExp][] = [
      [{}, /presets, rewrite_rules and root_migrations/],
      [{ rewrite_rules: [{ from_prefix: ' ', to_prefix: '/x' }] }, /presets, rewrite_rules and root_migrations/],
      [{ presets: ['unheard'] }, /decypharr_beta_consolidated/],
      [{ rewrite_rules: [{ from_prefix: '//', to_prefix: '/x' }] }, /from_prefix/],
      [{ rewrite_rules: RULES, roots: ['lib'] }, /absolute/],
      [{ rewrite_rules: RULES, roots: ['/a\0b'] }, /NUL/],
      [{ rewrite_rules: RULES, roots: [`/${'x'.repeat(5_000)}`] }, /longer/],
      ...[
        '/',
        '/etc',
        '//etc/',
        '/mnt/../etc/ssl',
        '/usr/lib',
        '/proc/self',
        path.join(dir, 'esc'),
        path.join(dir, 'esc/ssl'),
      ].map((place): [object, RegExp] => [{ rewrite_rules: RULES, roots: [place] }, /protected/]),
      [{ root_migrations: [{ from_root: root, to_root: path.join(dir, 'esc/links') }] }, /protected/],
      [{ root_migrations: [{ from_root: root, to_root: path.join(root, 'a') }] }, /in each other/],
      [{ root_migrations: [{ from_root: root, to_root: config }] }, /no directory/],
      ...[config, path.join(dir, 'loop')].flatMap((place): [object, RegExp][] => [
        [{ root_migrations: [{ from_root: root, to_root: path.join(place, 'new') }] }, /no directory/],
        [{ rewrite_rules: RULES, roots: [root], backup_path: path.join(place, 'undo.json') }, /no directory/],
      ]),
      [{ root_migrations: [{ from_root: root, to_root: path.join(dir, 'x'.repeat(256)) }] }, /255 bytes/],
      [{ root_migrations: [migration(root, 'new'), migration(path.join(dir, 'new'), 'newer')] }, /one after the other/],
      [{ rewrite_rules: RULES, roots: [root], backup_path: path.join(dir, 'undo.txt') }, /\.json/],
      [{ rewrite_rules: RULES, roots: [root], backup_path: config }, /no symlink manifest/],
      [{ rewrite_rules: RULES, roots: [root], backup_path: path.join(dir, `${'é'.repeat(122)}.json`) }, /247 bytes/],
      [{ rewrite_rules: RULES, roots: [root], backup_path: '/etc/undo.json' }, /protected/],
      [{ rewrite_rules: RULES, roots: [root], backup_path: path.join(dir, 'esc/undo.json') }, /protected/],
    ];
    for (const [body, detail] of refused)
      for (const place of ['/process/symlink-repair', '/process/symlink-repair-async']) {
        const answer = await call(place, { ...body, dry_run: false });
        t.match(answer, { status: 400, body: { detail } }, JSON.stringify(body).slice(0, 200));
      }
    t.equal((await repair({ rewrite_rules: 'no' })).status, 422);
    t.equal((await call('/process/symlink-job-status')).status, 422);
    t.equal((await call('/process/symlink-job-status?job_id=+')).status, 400);
    t.equal((await job(NO_SUCH)).status, 404);
    t.equal((await call('/process/symlink-job-latest')).status, 422);
    t.equal((await call('/process/symlink-job-latest?process_name=')).status, 400);
    t.equal(found(root), before);
    t.equal(readFileSync(config, 'utf8'), text);
  });

  await t.test('a mount that is down is reported, and links to it are not called broken', async t => {
    const broken = path.join(dir, 'broken');
    plant(broken, { one: { to: path.join(down, 'film') }, two: { to: path.join(dir, 'nothing') } });
    const rules = [{ from_prefix: dir, to_prefix: '/new' }];
    const { body } = await repair({
      rewrite_rules: rules,
      include_broken: false,
      roots: [broken, path.join(down, 'links')],
    });
    t.match(body, {
      scanned_symlinks: 2,
      changed: 1,
      skipped_nonexistent_target: 1,
      missing_roots: [path.join(down, 'links')],
    });
    const told = body.errors.filter(({ error }: { error: string }) => error.includes('is the mount of Files'));
    t.same(
      told.map(({ link_path }: { link_path: string }) => link_path),
      [path.join(down, 'links'), down],
    );
    const onto = await repair({ root_migrations: [{ from_root: broken, to_root: path.join(down, 'links') }] });
    t.match(onto, { status: 409, body: { detail: /Files/ } });
  });

  await t.test('long lists are cut, and a file has the whole list', async t => {
    plant(path.join(dir, 'library'), library());
    const { body } = await repair({ rewrite_rules: RULES, roots: [path.join(dir, 'library')] });
    t.match(body, { changed: FOLDERS * LINKS, changes_total: FOLDERS * LINKS, truncated: true });
    t.equal(body.changes.length, 1_000);
    const lines = readFileSync(body.report_path, 'utf8').trimEnd().split('\n');
    t.equal(lines.length, FOLDERS * LINKS);
    t.same(JSON.parse(lines[0] ?? ''), body.changes[0]);
  });

  await t.test('an ordinary stop lets a run end in order', async t => {
    const links = path.join(dir, 'library');
    const before = JSON.stringify([...linksOf(links)]);
    const undo = path.join(configDir, 'symlink-repair/repair-manifests/stopped.json');
    const order = { rewrite_rules: RULES, roots: [links], dry_run: false, backup_path: undo, process_name: 'Files' };
    const { body } = await call('/process/symlink-repair-async', order);
    await until(() => existsSync(`${undo}.partial`), { intervalMs: 1 });
    // As Ctrl-C in a terminal does.
    process.kill(-(host.child.pid ?? 0), 'SIGINT');
    t.match(await host.exited, { code: 0 });
    t.notOk(existsSync(`${undo}.partial`));
    const { changes } = JSON.parse(readFileSync(undo, 'utf8'));
    t.ok(changes.length > 0 && changes.length < FOLDERS * LINKS, `it was cut off after ${changes.length} links`);
    t.notOk([...linksOf(links).keys()].some(place => place.includes('.slr-')));
    host = await begin();
    t.match((await job(body.job_id)).body, { status: 'error', error: { code: 'interrupted' } });
    t.match(await call('/process/symlink-manifest/restore', { manifest_path: undo, dry_run: false }), { status: 200 });
    t.equal(JSON.stringify([...linksOf(links)]), before);
  });

  await t.test('one run writes while others read, and a killed host loses no link', async t => {
    const links = path.join(dir, 'library');
    const before = JSON.stringify([...linksOf(links)]);
    const undo = path.join(configDir, 'symlink-repair/repair-manifests/killed.json');
    const order = { rewrite_rules: RULES, roots: [links], dry_run: false, backup_path: undo, process_name: 'Files' };
    const { body } = await call('/process/symlink-repair-async', order);
    const second = await call('/process/symlink-repair-async', { ...order, backup_path: null });
    t.match(await repair(order), { status: 409, body: { detail: /symlink_repair of Files is/ } });
    t.match((await job(second.body.job_id)).body, { status: 'queued' });
    await until(() => existsSync(`${undo}.partial`), { intervalMs: 1 });
    host.child.kill('SIGKILL');
    await host.exited;
    host = await begin();
    const undone = await call('/process/symlink-manifest/restore', { manifest_path: undo, dry_run: false });
    const interrupted = (await job(body.job_id)).body;
    t.match(interrupted, { status: 'error', error: { code: 'interrupted', message: /items were processed/ } });
    t.match(interrupted.error.message, undo);
    t.match((await job(second.body.job_id)).body, {
      status: 'error',
      error: { code: 'interrupted', message: /nothing/ },
    });
    t.match(undone, { status: 200, body: { errors: [] } }, 'it waited until what was left had been mended');
    t.equal(JSON.stringify([...linksOf(links)]), before);
  });
});
