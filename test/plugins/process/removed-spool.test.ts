// A service whose spool is removed while no host runs goes on writing to a file without a name: the next host says so.
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { kid } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

for (const isRecorded of [true, false])
  t.test(`the output of an adopted service that has lost its spool; recorded: ${isRecorded}`, async t => {
    const dir = testDir(t, {});
    await chmod(dir, 0o755);
    const port = await writeConfig(dir, { kid: kid('Kid', ['calm'], { enabled: true }) });
    const first = await startStackwarden(dir, port, { plugins: ['config', 'process'] });
    await until(() => first.stdout().includes('Kid runs as pid'));
    first.child.kill('SIGKILL');
    await first.exited;
    const supervisor = path.join(dir, 'supervisor');
    const [spool = ''] = (await readdir(supervisor)).filter(name => name.endsWith('.spool'));
    await rm(path.join(supervisor, spool));
    if (!isRecorded) await rm(path.join(supervisor, 'state.json'));

    const second = await startStackwarden(dir, port, { plugins: ['config', 'process'] });
    await until(() => second.stdout().includes('Kid is still running'));
    await until(() => second.stdout().includes('output of Kid is lost until its next start: '));
    t.match(second.stdout(), `${spool} was removed`);
    const state = path.join(supervisor, 'state.json');
    const recorded = await until(
      async () => JSON.parse(await readFile(state, 'utf8').catch(() => '{}')).processes?.Kid?.spool,
      { what: 'the record of Kid' },
    );
    t.equal(recorded, path.join(supervisor, spool));
    second.child.kill('SIGTERM');
    await second.exited;
  });
