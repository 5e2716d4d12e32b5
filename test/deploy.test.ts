// What runs the host on a machine or in a container, as far as it can be held to without one: the tools that read these
// files find no fault, and whoever stops the host gives it the time that it takes.
import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { shutdownSection } from '../plugins/process/settings.ts';
import { programOf } from './support/debian.ts';
import { testDir } from './support/directory.ts';

const run = promisify(execFile);
const SHUTDOWN_SECONDS = shutdownSection.parse({}).timeout_seconds;
const deployDir = path.join(import.meta.dirname, '..', 'deploy');

t.test('the unit for systemd', async t => {
  const analyze = await programOf(['systemd-analyze'], ['systemd']);
  const unit = await readFile(path.join(deployDir, 'stackwarden.service'), 'utf8');
  const [, command = ''] = /^ExecStart=(\S+)/m.exec(unit) ?? [];
  const directory = testDir(t);
  const [program, file] = [path.join(directory, 'stackwarden'), path.join(directory, 'stackwarden.service')];
  await writeFile(program, '');
  await chmod(program, 0o755);
  await writeFile(file, unit.replace(command, program));
  const { stderr } = await run(analyze, ['verify', file]);
  const faults = stderr.split('\n').filter(line => line.includes('stackwarden'));
  // Known to systemd from 254 on.
  t.same(
    faults.filter(line => !line.includes("'DelegateSubgroup'")),
    [],
  );
  const [, stopSeconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  t.ok(Number(stopSeconds) > SHUTDOWN_SECONDS, 'it stops in time');
  t.match(unit, /^KillMode=process$/m, 'services live on for the next host');
});
