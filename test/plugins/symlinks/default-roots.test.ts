// The roots of requests that name none: those of the templates, and those that blocks of services name.
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

const PRESETS = ['decypharr_beta_consolidated'];

t.test('default roots are read as those of a schedule', async t => {
  const host = await startWithPlugins(
    t,
    {},
    {
      shipped: ['symlinks', 'services', 'service-decypharr'],
      config: {
        infinidysk: { process_name: 'InfiniDysk', symlink_backup_roots: '/nowhere/a, /nowhere/b\n/nowhere/a' },
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
