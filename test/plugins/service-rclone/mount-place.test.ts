// The directory of a mount before it is mounted: remains of an earlier run are removed, and nothing else.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { pluginsDir } from '../../support/host.ts';
import { mountLinks } from '../../support/link-mount.ts';

const root = process.getuid?.() === 0;
const skip =
  !existsSync(path.join(pluginsDir, 'service-rclone')) ||
  (!(root && existsSync('/dev/fuse')) && 'only root with FUSE mounts');

t.test('a mount that an earlier run has left is taken off, and no other', { skip }, async t => {
  const { freeMountPlace } = await import('../../../plugins/service-rclone/mount-place.ts');
  const mounted = async (place: string): Promise<boolean> =>
    (await readFile('/proc/self/mountinfo', 'utf8')).includes(` ${place} `);
  const { mount } = await mountLinks(t);
  t.ok(await mounted(mount));
  await freeMountPlace(path.dirname(mount));
  t.ok(await mounted(mount), 'it is in another place');
  await freeMountPlace(`${path.dirname(mount)}//${path.basename(mount)}`);
  t.notOk(await mounted(mount));
  await freeMountPlace('/proc');
  t.ok(await mounted('/proc'), 'no run of ours has left it');
});
