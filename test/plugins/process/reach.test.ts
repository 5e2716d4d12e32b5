// A service whose user cannot reach its files is refused before the launch, with the closed part and what to do.
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';

const needsRoot = { skip: process.getuid?.() === 0 ? false : 'changing the user needs root' };

t.test('programs, scripts and directories behind a closed one', needsRoot, async t => {
  const home = await mkdtemp(path.join(tmpdir(), 'stackwarden-home-'));
  const open = await mkdtemp(path.join(tmpdir(), 'stackwarden-open-'));
  t.teardown(() => Promise.all([home, open].map(directory => rm(directory, { recursive: true }))));
  await chmod(open, 0o755);
  for (const directory of [home, open]) {
    await writeFile(path.join(directory, 'app.sh'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  }
  await writeFile(path.join(open, 'private.sh'), 'exec sleep 600\n', { mode: 0o600 });
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
  for (const name of ['Absent', 'Open', 'Twice on the path']) {
    const answer = await start(app, name);
    t.equal(answer.status, 200, `${name}: ${answer.text}`);
  }
});
