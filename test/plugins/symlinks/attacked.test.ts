// Repairs and restores by root while another user exchanges a directory of the library for a link to elsewhere: nothing
// outside of the library changes.
import { chmodSync, chownSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { found, linkDir } from '../../support/links.ts';
import { NOBODY, ROOT_ONLY, race } from '../../support/race.ts';
import { rounds } from '../../support/rounds.ts';

t.test('exchanged parents lead no change outside of the library', ROOT_ONLY, async t => {
  const links = { x: { to: '/old/x' }, y: { to: '/new/y' } };
  const dir = linkDir(t, {
    library: { real: links },
    outside: links,
    source: { season: { ...links, z: { to: '/old/z' } } },
  });
  const at = (place: string): string => path.join(dir, place);
  chmodSync(dir, 0o755);
  for (const place of ['library', 'library/real']) chownSync(at(place), NOBODY, NOBODY);
  const host = await startHost({ plugins: ['symlinks', 'services', 'process'] });
  t.teardown(() => host.stop());
  const snapshot = path.join(host.configDir, 'symlink-repair/snapshots/library.json');
  const backup = { backup_path: snapshot, roots: [at('library')] };
  t.match((await host.post('/process/symlink-manifest/backup', backup)).body, { recorded_entries: 2 });
  symlinkSync(at('outside'), at('library/away'));
  const before = found(at('outside'));
  const copied = { from_root: at('source'), to_root: at('library') };
  const rule = (from: string, to: string) => [{ from_prefix: from, to_prefix: to }];
  const orders: [string, object][] = [
    ['symlink-repair', { roots: [at('library')], rewrite_rules: rule('/old', '/new') }],
    ['symlink-repair', { roots: [at('library')], rewrite_rules: rule('/new', '/old') }],
    ['symlink-repair', { root_migrations: [copied], copy_instead_of_move: true, overwrite_existing: true }],
    ['symlink-manifest/restore', { manifest_path: snapshot, overwrite_existing: true }],
  ];
  let made = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const work = (): Promise<unknown> => {
    turn = turn.then(async () => {
      const [route, body] = orders[made % orders.length] ?? ['', {}];
      made += 1;
      const { status, text } = await host.post(`/process/${route}`, { ...body, dry_run: false });
      if (status >= 500 && !text.includes('None of the roots')) t.fail(text);
    });
    return turn;
  };
  await race({
    place: at('library/season'),
    others: [at('library/real'), at('library/away')],
    rounds: rounds(8),
    work,
  });
  t.equal(found(at('outside')), before);
  t.same(
    readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(name => name.includes('.slr-')),
    [],
    'no temporary link is left',
  );
});
