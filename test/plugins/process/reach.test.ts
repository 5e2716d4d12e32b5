// A service whose user cannot reach its files is refused before the launch, with the closed directory and what to do.
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';

const needsRoot = { skip: process.getuid?.() === 0 ? false : 'changing the user needs root' };

t.test('files behind a closed directory refuse the start', needsRoot, async t => {
  const home = await mkdtemp(path.join(tmpdir(), 'stackwarden-home-'));
  const open = await mkdtemp(path.join(tmpdir(), 'stackwarden-open-'));
  t.teardown(() => Promise.all([home, open].map(directory => rm(directory, { recursive: true }))));
  await chmod(open, 0o755);
  for (const directory of [home, open]) {
    await writeFile(path.join(directory, 'app.sh'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  }
  await writeFile(path.join(open, 'private.sh'), 'exec sleep 600\n', { mode: 0o600 });
  await copyFile('/bin/sh', path.join(home, 'closed-sh'));
  await writeFile(path.join(open, 'worn.sh'), `#!${home}/closed-sh -e\nexec sleep 600\n`, { mode: 0o755 });
  await writeFile(path.join(open, 'windows.sh'), '#!/bin/sh\r\nexec sleep 600\r\n', { mode: 0o755 });
  await writeFile(path.join(open, 'twice.sh'), `#! ${open}/worn.sh\n`, { mode: 0o755 });
  const enved = (name: string, line: string) =>
    writeFile(path.join(open, name), `#!/usr/bin/env ${line}\nexec sleep 600\n`, { mode: 0o755 });
  await enved('split.sh', `-S A=1 ${home}/closed-sh -e`);
  await enved('named.sh', 'closed-sh');
  await enved('nowhere.sh', '-S A=1 no-such-shell');
  await enved('usual.sh', '-S A=1 sh -e');
  await enved('asked.sh', `-S \${A}/closed-sh`);
  await symlink(path.join(home, 'app.sh'), path.join(open, 'link.sh'));
  const block = (name: string, command: readonly string[], more: object = {}) => ({
    enabled: false,
    process_name: name,
    command,
    config_dir: open,
    stop_grace_seconds: 1,
    ...more,
  });
  const app = await startHost({
    plugins: ['config', 'process', 'services'],
    config: {
      a: block('Program', [path.join(home, 'app.sh')]),
      b: block('Script', ['sh', path.join(home, 'app.sh')]),
      c: block('Option', ['sh', path.join(open, 'app.sh'), `--file=${path.join(home, 'app.sh')}`]),
      d: block('Directory', ['sleep', '600'], { config_dir: home }),
      e: block('Link', ['sh', 'link.sh']),
      k: block('Interpreter', ['./worn.sh']),
      l: block('Interpreter of another', [path.join(open, 'twice.sh')]),
      m: block('Carriage return', ['./windows.sh']),
      n: block('Split', ['./split.sh']),
      o: block('Named', ['./named.sh'], { env: { PATH: `${open}:${home}:${process.env.PATH}` } }),
      p: block('Nowhere', ['./nowhere.sh']),
      q: block('Usual', ['./usual.sh'], { env: { PATH: `${home}:${process.env.PATH}` } }),
      r: block('Asked', ['./asked.sh'], { env: { A: home } }),
      f: block('Private', ['sh', 'private.sh']),
      g: block('Absent', ['sh', path.join(open, 'app.sh'), path.join(home, 'later.db')]),
      h: block('Open', ['sh', path.join(open, 'app.sh'), '-x', 'word']),
      i: block('On the path', ['app.sh'], { env: { PATH: `${home}:${process.env.PATH}` } }),
      j: block('Twice on the path', ['app.sh'], { env: { PATH: `${home}:${open}:${process.env.PATH}` } }),
    },
  });
  t.teardown(() => app.stop());
  const refusals: readonly [string, string][] = [
    ['Program', home],
    ['Script', home],
    ['Option', home],
    ['Directory', home],
    ['Link', home],
    [
      'Interpreter',
      `${home}/closed-sh, the interpreter that the first line of ${open}/worn.sh names: ${home} is closed`,
    ],
    ['Interpreter of another', `${home}/closed-sh, the interpreter that the first line of ${open}/twice.sh names`],
    ['Split', `${home}/closed-sh, the interpreter that the first line of ${open}/split.sh names: ${home} is closed`],
    ['Named', `${home}/closed-sh, the interpreter that the first line of ${open}/named.sh names: ${home} is closed`],
    ['Private', path.join(open, 'private.sh')],
    ['On the path', home],
  ];
  for (const [name, closed] of refusals) {
    const { status: code, body } = await start(app, name);
    t.equal(code, 400, name);
    t.match(body.detail, new RegExp(`^${name} was not started: it runs as user 65534, which cannot use `));
    t.ok(body.detail.includes(closed), body.detail);
    t.match(body.detail, /\(mode 0[67]00\).*--config-dir.*chmod.*puid/);
    t.equal((await status(app, name)).status, 'stopped');
  }
  t.match(await start(app, 'Carriage return'), {
    status: 400,
    body: {
      detail: `loader that is missing: "/bin/sh\\r", which the first line of ${open}/windows.sh names; install it`,
    },
  });
  t.match(await start(app, 'Nowhere'), {
    status: 400,
    body: { detail: `is missing: "no-such-shell", which the first line of ${open}/nowhere.sh names; install it` },
  });
  t.match(await start(app, 'Asked'), { status: 500 }, 'what the line alone does not tell is left to env');
  for (const name of ['Absent', 'Open', 'Twice on the path', 'Usual']) {
    const answer = await start(app, name);
    t.equal(answer.status, 200, `${name}: ${answer.text}`);
  }
});

t.test('a result is reused until something on the path has changed', needsRoot, async t => {
  const place = await mkdtemp(path.join(tmpdir(), 'stackwarden-way-'));
  t.teardown(() => rm(place, { recursive: true }));
  await chmod(place, 0o755);
  const [asked, home, ownPath] = [path.join(place, 'asked'), path.join(place, 'home'), process.env.PATH];
  // Stands in for the shell of the host's check; the service itself is started by an absolute path.
  const counting = `#!/bin/sh\necho x >> ${asked}\nexec /bin/sh "$@"\n`;
  await writeFile(path.join(place, 'sh'), counting, { mode: 0o755 });
  await writeFile(asked, '', { mode: 0o666 });
  await chmod(asked, 0o666);
  await mkdir(home);
  await writeFile(path.join(home, 'app.sh'), 'exec sleep 600\n');
  process.env.PATH = `${place}:${ownPath}`;
  t.teardown(() => {
    process.env.PATH = ownPath;
  });
  const app = await startHost({
    plugins: ['config', 'process', 'services'],
    config: {
      a: {
        enabled: false,
        process_name: 'Scripted',
        command: ['/bin/sh', path.join(home, 'app.sh')],
        config_dir: place,
        stop_grace_seconds: 1,
      },
    },
  });
  t.teardown(() => app.stop());
  const again = async (): Promise<{ status: number; asks: number }> => {
    await stop(app, 'Scripted');
    const before = (await readFile(asked, 'utf8')).length;
    const { status } = await start(app, 'Scripted');
    return { status, asks: (await readFile(asked, 'utf8')).length - before };
  };
  const first = await again();
  t.equal(first.status, 200);
  t.ok(first.asks > 0, 'the first start asks');
  t.same(await again(), { status: 200, asks: 0 });
  await chmod(home, 0o700);
  t.equal((await again()).status, 400, 'what was closed meanwhile is noticed');
  await chmod(home, 0o755);
  const opened = await again();
  t.equal(opened.status, 200, 'and what was opened');
  await rm(path.join(home, 'app.sh'));
  await writeFile(path.join(home, 'app.sh'), 'exec sleep 600\n', { mode: 0o600 });
  t.equal((await again()).status, 400, 'another file of the same name is another');
});
