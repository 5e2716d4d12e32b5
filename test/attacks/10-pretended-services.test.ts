// Line 10: where the record of the launches is lost, a process that another user made look like a service is not taken
// for it, and neither is that of another host, even if both know their directories by the same path.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, lives, pidOf, start, status } from '../support/kids.ts';
import { ownLog } from '../support/own-log.ts';
import { isRoot, NOBODY } from '../support/race.ts';
import { until } from '../support/until.ts';

const STRANGER = 65_533;
const skip = isRoot ? false : 'only root can act as another user';

/** `inode` is that of the directory, in a mark that earlier hosts did not set. */
for (const { uid = NOBODY, isOurs = true, inode, isService } of [
  { uid: STRANGER, isService: false },
  { isService: true },
  { isOurs: false, isService: false },
  { inode: 'same', isService: true },
  { inode: 'other', isService: false },
] as const)
  t.test(`of user ${uid}, launched here: ${isOurs}, ${inode} inode`, { skip }, async t => {
    const configDir = testDir(t, {});
    const launchedFrom = isOurs ? configDir : `${configDir}-of-another-host`;
    const { dev, ino } = await stat(configDir);
    const identity = { STACKWARDEN_RECORDED_AT: `${dev}:${inode === 'same' ? ino : ino + 1}` };
    const pretender = spawn('sleep', ['600'], {
      cwd: '/',
      uid,
      detached: true,
      stdio: 'ignore',
      env: {
        STACKWARDEN_RUN_ID: 'a-run',
        STACKWARDEN_PROCESS_NAME: 'Kid',
        STACKWARDEN_RECORDED_IN: path.join(launchedFrom, 'supervisor'),
        ...(inode === undefined ? {} : identity),
      },
    });
    await once(pretender, 'spawn');
    t.teardown(() => pretender.kill('SIGKILL'));
    const app = await startHost({ plugins: ['config', 'process'], configDir, config: { kid: kid('Kid', ['calm']) } });
    t.teardown(() => app.stop());
    if (isService) {
      await until(async () => (await status(app, 'Kid')).status === 'running', { what: 'the adoption' });
      return;
    }
    t.equal((await start(app, 'Kid')).status, 200);
    t.not(await pidOf(app, 'Kid'), pretender.pid);
    t.ok(lives(pretender.pid ?? 0), 'it is left alone');
    const told = (await ownLog(app)).filter(line => line.includes('with a directory of the same path'));
    t.equal(told.length, inode === undefined ? 0 : 1);
  });
