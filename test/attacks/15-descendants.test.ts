// Line 15: a stop ends every process that its service has created, whatever that did to its session, its parents and
// its environment, and never says success while one lives.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { access, chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import {
  enterCgroup,
  makeCgroup,
  pidsIn,
  removeCgroup,
  removeEmptyCgroups,
} from '../../plugins/process/supervise/cgroup.ts';
import { readStat } from '../../plugins/process/supervise/proc-stat.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, lives, notedPid, pidOf, start, status, stop } from '../support/kids.ts';
import { COMMAND, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process'];

/** A shell script that leaves no variable, no session and, with `quiet`, no open file to its child. */
const child = (file: string, quiet = true) =>
  `env -i PATH="$PATH" setsid sh -c 'echo $$ > ${file}; exec sleep 600' ${quiet ? '>/dev/null 2>&1 </dev/null' : ''}`;

async function run(t: Test, script: (file: string) => string) {
  const dir = testDir(t);
  await chmod(dir, 0o777);
  const file = path.join(dir, 'pid');
  const command = ['sh', '-c', `${script(file)}\nexec sleep 600`];
  const app = await startHost({ plugins: PLUGINS, config: { kid: kid('Kid', [], { command }) } });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Kid')).status, 200);
  const escaped = await notedPid(file);
  t.teardown(() => {
    if (lives(escaped)) process.kill(escaped, 'SIGKILL');
  });
  return { app, escaped, file };
}

/** The mount of cgroups of version 2; the host of the test is in its root or in a container's. */
const CGROUPS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find(place => existsSync(`${place}/cgroup.procs`));
const asRoot = process.getuid?.() === 0;

async function hasCgroups(): Promise<boolean> {
  const [, own = ''] = /^0::(.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8')) ?? [];
  const mayWrite = () => access(path.join(CGROUPS ?? '', own), constants.W_OK);
  return (
    asRoot &&
    CGROUPS !== undefined &&
    (await mayWrite().then(
      () => true,
      () => false,
    ))
  );
}

const inCgroup = (await hasCgroups()) ? false : 'cgroups may not be written here';
/**
 * As soon as the host knows the child: it has looked when the start answered, or moves it into the cgroup of the run.
 */
async function endParent(escaped: number, file: string): Promise<void> {
  const isMoved = async () => (await readFile(`/proc/${escaped}/cgroup`, 'utf8')).includes('stackwarden-');
  if (inCgroup === false) await until(isMoved, { what: 'the move into a cgroup' });
  const parent = readStat(escaped)?.parentPid;
  await writeFile(`${file}.seen`, '');
  await until(() => readStat(escaped)?.parentPid !== parent, { what: 'the end of the parent' });
}

const scripts: Record<string, (file: string) => string> = {
  'a child of the leader': file => `${child(file)} &`,
  'one whose parent has ended at once, with the output of the service': file => `(${child(file, false)} &)`,
  'one whose parent ended later': file => `(${child(file)} & while [ ! -e ${file}.seen ]; do sleep 0.05; done) &`,
};
for (const [what, script] of Object.entries(scripts)) {
  t.test(what, async t => {
    const { app, escaped, file } = await run(t, script);
    t.ok(lives(escaped));
    if (what.endsWith('later')) await endParent(escaped, file);
    t.equal((await stop(app, 'Kid')).status, 200);
    t.notOk(lives(escaped), 'it is gone when the stop says success');
  });
}

t.test('the leader ends by itself', async t => {
  for (const script of [(file: string) => `${child(file)} &`, (file: string) => `(${child(file, false)} &)`]) {
    const { app, escaped } = await run(t, script);
    process.kill(await pidOf(app, 'Kid'), 'SIGKILL');
    await until(async () => (await status(app, 'Kid')).status === 'stopped');
    t.notOk(lives(escaped));
  }
});

t.test('the host was killed between the start and the stop', async t => {
  const dir = testDir(t);
  await chmod(dir, 0o777);
  const file = path.join(dir, 'pid');
  const command = ['sh', '-c', `${child(file)} & exec sleep 600`];
  const options = { plugins: PLUGINS, configDir: dir };
  let app = await startHost({ ...options, config: { kid: kid('Kid', [], { command }) } });
  t.teardown(() => app.stop());
  await start(app, 'Kid');
  const escaped = await notedPid(file);
  await app.host.stop('fault');
  app = await startHost(options);
  await until(async () => (await status(app, 'Kid')).status === 'running');
  t.equal((await stop(app, 'Kid')).status, 200);
  t.notOk(lives(escaped));
});

t.test('in a cgroup of its own not even one without any other mark is lost', { skip: inCgroup }, async t => {
  const dir = testDir(t);
  await chmod(dir, 0o777);
  const [file, go] = [path.join(dir, 'pid'), path.join(dir, 'go')];
  const command = ['sh', '-c', `while [ ! -e ${go} ]; do sleep 0.05; done; (${child(file)} &); exec sleep 600`];
  const app = await startHost({ plugins: PLUGINS, config: { kid: kid('Kid', [], { command }) } });
  t.teardown(() => app.stop());
  await start(app, 'Kid');
  const group = await until(
    async () =>
      /^0::(.*\/stackwarden-.*)$/m.exec(await readFile(`/proc/${await pidOf(app, 'Kid')}/cgroup`, 'utf8'))?.[1],
    { what: 'the cgroup' },
  );
  await writeFile(go, '');
  const escaped = await notedPid(file);
  t.equal((await stop(app, 'Kid')).status, 200);
  t.notOk(lives(escaped));
  await until(() => !existsSync(path.join(CGROUPS ?? '', group)), { what: 'nothing to be left of it' });
});

t.test('another host that starts takes no cgroup from a run', { skip: inCgroup }, async t => {
  const cgroup = await makeCgroup('between-two-hosts');
  t.teardown(() => removeCgroup(cgroup));
  await removeEmptyCgroups();
  t.notOk(existsSync(cgroup), 'it was removed before the process was moved');
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await once(child, 'spawn');
  const { pid = 0 } = child;
  await enterCgroup(cgroup, pid);
  t.same(pidsIn(cgroup), [pid]);
  child.kill('SIGKILL');
  await ended;
});

/** What the service creates, and whether the parent of that, whose pid it notes, is killed before the stop. */
interface Escape {
  readonly script: (file: string, parent: string) => string;
  readonly losesParent?: true;
  readonly isMadeByStop?: true;
}

const escapes: Record<string, Escape> = {
  'one that lost its parent is remembered': {
    script: (file, parent) => `(${child(file)} & exec sh -c 'echo $$ > ${parent}; exec sleep 600') & exec sleep 600`,
    losesParent: true,
  },
  'one that has the environment of the service alone is known by that': {
    script: file => `(setsid sh -c 'echo $$ > ${file}; exec sleep 600' >/dev/null 2>&1 </dev/null &); exec sleep 600`,
  },
  'one that comes while the service ends is known by its output': {
    script: file =>
      `trap "(${child(file, false).replaceAll('$', '\\$')} &); sleep 0.2; exit" TERM; while :; do sleep 1; done`,
    isMadeByStop: true,
  },
};

for (const [what, { script, losesParent, isMadeByStop }] of Object.entries(escapes)) {
  t.test(`without cgroups, ${what}`, { skip: asRoot ? false : 'needs root' }, async t => {
    const configDir = testDir(t, { open: {} });
    await chmod(path.join(configDir, 'open'), 0o777);
    const [file = '', parent = ''] = ['pid', 'parent'].map(name => path.join(configDir, 'open', name));
    const command = ['sh', '-c', script(file, parent)];
    const block = kid('Kid', [], { command, enabled: true, stop_grace_seconds: 10 });
    const port = await writeConfig(configDir, { kid: block });
    const hidden = 'umount --lazy "$1" 2>/dev/null; shift; exec "$@"';
    const host = spawn(
      'unshare',
      [
        '--mount',
        'sh',
        '-c',
        hidden,
        'sh',
        CGROUPS ?? '/',
        process.execPath,
        ...COMMAND,
        'start',
        '--config-dir',
        configDir,
        '--plugins',
        'config,process',
      ],
      {
        cwd: path.join(import.meta.dirname, '../..'),
        env: { ...process.env, NODE_OPTIONS: '', TAP: '' },
        stdio: 'ignore',
      },
    );
    const ended = once(host, 'exit');
    t.teardown(async () => {
      host.kill('SIGTERM');
      await ended;
    });
    const url = `http://127.0.0.1:${port}/process`;
    const statusOf = async () =>
      ((await (await fetch(`${url}/service-status?process_name=Kid`)).json()) as { status: string }).status;
    await until(async () => (await statusOf()) === 'running', { what: 'the service' });
    if (isMadeByStop !== true) await notedPid(file);
    if (losesParent === true) {
      const middle = await notedPid(parent);
      t.equal(readStat(await notedPid(file))?.parentPid, middle);
      process.kill(middle, 'SIGKILL');
      await until(() => !lives(middle), { what: 'the end of its parent' });
    }
    const answer = await fetch(`${url}/stop-service`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: 'Kid' }),
    });
    const escaped = await notedPid(file);
    t.teardown(() => {
      if (lives(escaped)) process.kill(escaped, 'SIGKILL');
    });
    t.equal(answer.status, 200);
    t.notOk(lives(escaped));
  });
}
