// What a program prints while it ends is in its log, also when the shell that leads its run has ended before.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { kid, restart, start, stop } from '../../support/kids.ts';

/** Takes longer to end than its leader, so that the exit of the leader is noticed first. */
const PROGRAM = 'trap "echo saving; sleep 0.5; echo saved; exit 0" TERM; echo up; while :; do sleep 0.05; done';

for (const [name, operate] of Object.entries({ stop, restart })) {
  t.test(name, async t => {
    const command = ['sh', '-c', `sh -c '${PROGRAM}' & sleep 600; true`];
    const config = { kid: { ...kid('Kid', []), command, stop_grace_seconds: 20 } };
    const app = await startHost({ config, plugins: ['config', 'process'] });
    t.teardown(() => app.stop());
    t.equal((await start(app, 'Kid')).status, 200);
    t.equal((await operate(app, 'Kid')).status, 200);
    const log = await readFile(path.join(app.configDir, 'log/kid.log'), 'utf8');
    t.equal(log.split('saved').length, 2, 'its last line is there once');
  });
}
