// A path is local when no part of it, links included, lies on a file system that others answer for.
import { chmod, chown, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { localPlaces } from '../../../core/kit/local-place.ts';
import { testDir } from '../../support/directory.ts';
import { NOBODY, ROOT_ONLY, race } from '../../support/race.ts';

t.test('a path on a mount that others answer for, or through a link to it, is not local', async t => {
  const link = (target: string) => t.fixture('symlink', target);
  const root = testDir(t, {
    own: {
      'file.json': '{}',
      absolute: link('/nowhere'),
      relative: link('../far/film'),
      chain: link('relative/more'),
      loop: link('loop'),
      back: link('../own/file.json'),
    },
    far: {},
  });
  const far = path.join(root, 'far');
  const mounts = [
    { directory: '/', type: 'ext4' },
    { directory: far, type: 'fuse.rclone' },
  ];
  const isLocal = await localPlaces(mounts);
  for (const [place, expected] of [
    ['own/file.json', true],
    ['own/back', true],
    ['own/absolute', true],
    ['own/missing/file', true],
    ['far', false],
    ['far/film', false],
    ['own/../far', false],
    ['own/relative', false],
    ['own/chain', false],
    ['own/loop', false],
  ] as const)
    t.equal(await isLocal(`${root}/${place}`), expected, place);
  const isCovered = await localPlaces([...mounts, { directory: far, type: 'tmpfs' }]);
  t.equal(await isCovered(`${root}/far/film`), true, 'the newest mount counts');
  const isOnNetwork = await localPlaces([{ directory: '/', type: 'nfs4' }]);
  t.equal(await isOnNetwork(`${root}/own/file.json`), false);
});

t.test('a path that changes during the check is checked again', ROOT_ONLY, async t => {
  const dir = testDir(t, { own: { real: {} } });
  const own = path.join(dir, 'own');
  await symlink(path.join(own, 'real'), path.join(own, 'link'));
  await mkdir(path.join(own, 'other'));
  await chmod(dir, 0o755);
  await chown(own, NOBODY, NOBODY);
  const isLocal = await localPlaces([{ directory: path.join(dir, 'far'), type: 'fuse.rclone' }]);
  const place = path.join(own, 'place');
  const told = new Set<boolean>();
  const work = async () => told.add(await isLocal(path.join(place, 'file')));
  await race({ place, others: [path.join(own, 'other'), path.join(own, 'link')], work });
  t.same([...told], [true]);
});
