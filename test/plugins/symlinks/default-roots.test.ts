// The roots of requests that name none: those of the templates, and those that blocks of services name.
import { readFile, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { linkDir } from '../../support/links.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

const PRESETS = ['decypharr_beta_consolidated'];

t.test('default roots are read as those of a schedule', async t => {
  const host = await startWithPlugins(
    t,
    {},
    {
      shipped: ['symlinks', 'services', 'service-decypharr'],
      config: {
        infinidysk: { process_name: 'InfiniDysk', symlink_backup_roots: '/nowhere/a, /nowhere/b\n/nowhere/a/' },
        riven_backend: { process_name: 'Riven', symlink_library_path: ' /nowhere/films, series ' },
      },
    },
  );
  const { status, body, text } = await host.post('/process/symlink-repair', { presets: PRESETS });
  t.equal(status, 200, text);
  t.same(body.roots, [
    '/mnt/debrid/decypharr_symlinks',
    '/mnt/debrid/infinidysk-symlinks',
    '/mnt/debrid/combined_symlinks',
    '/mnt/debrid/clid_symlinks',
    '/nowhere/a',
    '/nowhere/b',
    '/nowhere/films, series',
  ]);
});

t.test('a default root that is refused does not concern a migration', async t => {
  const dir = linkDir(t, { from: { link: { to: '/nowhere/a' } }, other: {} });
  const [from, to] = [path.join(dir, 'from'), path.join(dir, 'to')];
  const host = await startWithPlugins(
    t,
    {},
    {
      shipped: ['symlinks', 'services', 'service-decypharr'],
      config: { riven_backend: { process_name: 'Riven', symlink_library_path: '/root/films' } },
    },
  );
  const repair = (body: object) => host.post('/process/symlink-repair', body);
  t.match(await repair({ presets: PRESETS }), { status: 400, body: { detail: /^The root \/root\/films lies in/ } });
  const manifest = path.join(dir, 'undo.json');
  const migration = { root_migrations: [{ from_root: from, to_root: to }], dry_run: false, backup_path: manifest };
  const moved = await repair(migration);
  t.match(moved, { status: 200, body: { moved: 1, roots: [] } }, moved.text);

  const restored = await host.post('/process/symlink-manifest/restore', { manifest_path: manifest, dry_run: false });
  t.match(restored, { status: 200, body: { restored: 1, errors: [] } }, restored.text);
  t.equal(await readlink(path.join(from, 'link')), '/nowhere/a');
  const text = await readFile(manifest, 'utf8');
  await writeFile(manifest, text.replaceAll(`${from}/link`, `${dir}/other/link`));
  const elsewhere = await host.post('/process/symlink-manifest/restore', { manifest_path: manifest });
  t.match(elsewhere.body, { restored: 0, errors: [{ error: /outside of the roots/ }] });
});
