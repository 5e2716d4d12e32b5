// Line 8: a service exchanges its directory and a link while the host, as root, makes directories and reads in it.
import { execFileSync } from 'node:child_process';
import { chmod, chown, lstat, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { readCredential } from '../../plugins/initial-password/credential-file.ts';
import { makeOwned } from '../../plugins/setup/directories.ts';
import { testDir } from '../support/directory.ts';
import { NOBODY, ROOT_ONLY, race } from '../support/race.ts';

const OWNER = { uid: NOBODY, gid: NOBODY };
/** Of the work; the entries are exchanged 10,000 times meanwhile. */
const ROUNDS = 2_000;

/** A directory and a link of `nobody` that take turns as `place`; the link leads to a directory of root. */
async function open(t: Test) {
  const dir = testDir(t, { own: {}, outside: { secret: 'of root\n' } });
  const [own, outside] = [path.join(dir, 'own'), path.join(dir, 'outside')];
  for (const place of [dir, outside]) await chmod(place, 0o755);
  await chown(own, NOBODY, NOBODY);
  const others = [path.join(own, 'real'), path.join(own, 'link')];
  execFileSync('mkdir', [path.join(own, 'real')], OWNER);
  execFileSync('ln', ['-s', outside, path.join(own, 'link')], OWNER);
  return { own, outside, others, place: path.join(own, 'place') };
}

t.test('while directories are made below', ROOT_ONLY, async t => {
  const { outside, others, place } = await open(t);
  let made = 0;
  const work = () => makeOwned(path.join(place, `${made++ % 500}`), OWNER);
  t.ok((await race({ place, others, rounds: ROUNDS, work })) > 0, 'some of it succeeds');
  t.same(await readdir(outside), ['secret']);
  t.match(await lstat(outside), { uid: 0, gid: 0 });
});

t.test('while the initial password is read', ROOT_ONLY, async t => {
  const { own, others, place } = await open(t);
  await writeFile(path.join(own, 'real', 'secret'), 'of the service\n');
  const seen = new Set<string | undefined>();
  const work = async () => seen.add(await readCredential(own, path.join(place, 'secret')));
  await race({ place, others, rounds: ROUNDS, work });
  t.notOk(seen.has('of root'), 'nothing of root was read');
  t.ok(seen.has('of the service'));
});
