// Line 4: the services' user gets no rights of root through the rclone that mounts, neither by its file, which can name
// commands, nor by its remote control.
import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { startMounts } from '../support/mounts.ts';
import { isRoot, NOBODY } from '../support/race.ts';

const skip = isRoot && existsSync('/dev/fuse') ? false : 'only root with FUSE has rights to give';

async function open(t: Test, userMounts: boolean) {
  const app = await startMounts(t, ['films'], { userMounts, script: 'id -u >> ran-as; echo token' });
  const started = await app.start('films');
  t.equal(started.status, 200, JSON.stringify(started.body));
  t.equal(await app.film('films'), 'a film');
  const pid = await app.pidOf('films');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    ...app,
    uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
    words: (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0'),
    ranAs: await readFile(path.join(app.own, 'ran-as'), 'utf8').catch(() => ''),
  };
}

t.test('where the services’ user may mount, it is who mounts', { skip }, async t => {
  const { uid, ranAs } = await open(t, true);
  t.equal(uid, NOBODY);
  t.match(ranAs, /^65534$/m);
  t.notMatch(ranAs, /^0$/m, 'no command ran as root');
});

t.test('a name of a mount that rclone would take for a remote with a command is refused', { skip }, async t => {
  const names = [`:webdav,url="x",bearer_token_command="touch ran-as"`, 'films,user="x"', '..', 'films:', ' films'];
  const app = await startMounts(t, ['films 1-2', ...names], { userMounts: false });
  for (const name of names) {
    const refused = await app.start(name);
    t.match(
      refused,
      { status: 400, body: { detail: /is no name of a remote; use letters, digits, spaces and/ } },
      name,
    );
  }
  t.notOk(existsSync(path.join(app.own, 'ran-as')));
  t.equal((await app.start('films 1-2')).status, 200);
  t.equal(await app.film('films 1-2'), 'a film');
});

t.test('where it may not, root mounts from a copy that nobody else writes or reaches', { skip }, async t => {
  const { uid, ranAs, words, dir, stop, start } = await open(t, false);
  t.equal(uid, 0);
  t.equal(ranAs, '', 'no command of the user’s file ran');
  t.notOk(
    words.some(word => word.startsWith('--rc')),
    'no remote control',
  );
  await stop('films');
  await chmod(path.join(dir, 'mnt'), 0o777);
  const refused = await start('films');
  t.equal(refused.status, 409);
  t.match(
    refused.body,
    { detail: /mnt may be written by others.*user_allow_other/ },
    'nor where others could exchange its place',
  );
});
