// A configuration directory that is reached through a link: the kernel names the files in it by their real path, and
// what a service has created or written is still found by that.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { kid, lives, notedPid } from '../../support/kids.ts';
import { type StackwardenOptions, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process'];
/** Hides the cgroups, so that processes are found by their other marks. */
const HIDDEN = ['unshare', '--mount', 'sh', '-c', 'mount --bind /var /sys/fs/cgroup && exec "$@"', 'sh'];
const [program = '', ...words] = HIDDEN;
const skip = spawnSync(program, [...words, 'true']).status === 0 ? false : 'mount namespaces may not be made here';

async function linked(t: Test, block: (dir: string) => object) {
  const dir = testDir(t, { real: {} });
  await chmod(dir, 0o755);
  const notes = path.join(dir, 'notes');
  await mkdir(notes);
  await chmod(notes, 0o777);
  const configDir = path.join(dir, 'link');
  await symlink(path.join(dir, 'real'), configDir);
  const port = await writeConfig(configDir, { kid: block(notes) });
  const begin = async (options: StackwardenOptions = {}) => {
    const host = await startStackwarden(configDir, port, { plugins: PLUGINS, ...options });
    t.teardown(async () => {
      host.child.kill('SIGTERM');
      await host.exited;
    });
    return host;
  };
  return { begin, configDir, notes };
}

t.test('a stop finds a child by the output that it has in common with the service', { skip }, async t => {
  const { begin, notes } = await linked(t, dir => {
    const child = `env -i PATH="$PATH" setsid sh -c 'echo $$ > ${dir}/pid; exec sleep 600'`;
    return kid('Kid', [], { command: ['sh', '-c', `(${child} &)\nexec sleep 600`] });
  });
  const host = await begin({ within: HIDDEN });
  const post = (route: string) =>
    fetch(`${host.base}/process/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: 'Kid' }),
    });
  t.equal((await post('start-service')).status, 200);
  const escaped = await notedPid(path.join(notes, 'pid'));
  t.teardown(() => {
    if (lives(escaped)) process.kill(escaped, 'SIGKILL');
  });
  t.equal((await post('stop-service')).status, 200);
  t.notOk(lives(escaped), 'it is gone when the stop says success');
});

t.test('a service whose record is lost keeps its spool', async t => {
  const { begin, configDir, notes } = await linked(t, dir => {
    const script = `while [ ! -e ${dir}/go ]; do sleep 0.05; done; echo a later line; exec sleep 600`;
    return kid('Kid', [], { command: ['sh', '-c', script], enabled: true });
  });
  const first = await begin();
  await until(() => first.stdout().includes('Kid runs as pid'), { what: 'the launch' });
  first.child.kill('SIGKILL');
  await first.exited;
  const state = path.join(configDir, 'supervisor');
  const spools = async () => (await readdir(state)).filter(name => name.endsWith('.spool'));
  const before = await spools();
  await rm(path.join(state, 'state.json'));

  const second = await begin();
  await until(() => second.stdout().includes('Kid is still running as pid'), { what: 'the adoption' });
  const startup = async () =>
    (await (await fetch(`${second.base}/process/startup-status`)).json()) as { terminal: boolean };
  await until(async () => (await startup()).terminal, { what: 'the end of the start' });
  t.same(await spools(), before);
  await mkdir(path.join(notes, 'go'));
  await until(async () => (await readFile(path.join(configDir, 'log/kid.log'), 'utf8')).includes('a later line'));
});

t.test('a service that an earlier host has marked with the path of the link is found', async t => {
  const { begin, configDir } = await linked(t, () => kid('Kid', ['calm']));
  const env = {
    STACKWARDEN_RUN_ID: randomUUID(),
    STACKWARDEN_PROCESS_NAME: 'Kid',
    STACKWARDEN_RECORDED_IN: path.join(configDir, 'supervisor'),
  };
  const service = spawn('sleep', ['600'], { cwd: '/', detached: true, stdio: 'ignore', env });
  await once(service, 'spawn');
  t.teardown(() => service.kill('SIGKILL'));
  const host = await begin();
  const adopted = `Kid is still running as pid ${service.pid} and was adopted`;
  await until(() => host.stdout().includes(adopted), { what: 'the adoption' });
});
