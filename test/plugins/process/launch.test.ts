// What a launched program gets: arguments, placeholders, environment, user, directory, a log for its output, a free
// port.
import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { LaunchPlan } from '../../../plugins/process/contract.ts';
import { splitCommand } from '../../../plugins/process/launch/command-words.ts';
import { launch, openOutput } from '../../../plugins/process/launch/launch.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, start, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('a program gets its arguments, environment, user and directory', async t => {
  const dir = testDir(t, { log: {} });
  const logFile = path.join(dir, 'log', 'kid.log');
  const app = await startHost({
    config: {
      dumb: { log_dir: path.join(dir, 'log') },
      tz: 'Europe/Berlin',
      kid: kid('Kid', ['show-environment', '{port}', '{tz}', '{unknown}', '{nothing here}'], {
        port: await freePort(),
        config_dir: dir,
        log_file: logFile,
        env: {
          WEB_PORT: '{port}',
          NUMBER: 5,
          YES: true,
          SHELL: null,
          BOTH: `\${STACKWARDEN_TEST_VALUE}/x`,
          BRACES: `{port} \${STACKWARDEN_TEST_BRACES} \${port} \${NO_SUCH} \${0}`,
          SLIP: '{prot}',
        },
      }),
    },
  });
  t.teardown(() => app.stop());
  process.env.STACKWARDEN_TEST_VALUE = 'inherited';
  process.env.STACKWARDEN_TEST_BRACES = 'a{port}b';
  t.equal((await start(app, 'Kid')).status, 200);
  const line = await until(async () => /environment (\{.*\})/.exec(await readFile(logFile, 'utf8'))?.[1]);
  const { block } = { block: (await app.get('/config?process_name=Kid')).body };
  const shown = JSON.parse(line);
  t.same(shown.argv, [String(block.port), 'Europe/Berlin', '{unknown}', '{nothing here}']);
  t.match(shown.env, { WEB_PORT: String(block.port), NUMBER: '5', YES: 'true', BOTH: 'inherited/x' });
  t.equal(shown.env.BRACES, `${block.port} a{port}b $${block.port} \${NO_SUCH} \${0}`, 'a variable is text');
  t.notOk('SHELL' in shown.env);
  t.match(
    (await ownLog({ host: app.host, configDir: dir })).join('\n'),
    /WARNING - process: Kid is started with \{prot\} as it stands; \{port\} is probably meant/,
  );
  t.equal(shown.cwd, dir);
  t.same(
    block.command.slice(2),
    ['show-environment', '{port}', '{tz}', '{unknown}', '{nothing here}'],
    'placeholders are never written back',
  );
  if (process.getuid?.() === 0) t.match(shown, { uid: 65_534, gid: 65_534, groups: [65_534], env: { USER: 'nobody' } });
});

t.test('a port that is taken is changed and saved before the launch', async t => {
  const taken = createServer();
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const { port } = taken.address() as { port: number };
  const app = await startHost({
    config: { web: kid('Web', ['web'], { port, env: { PORT: '{port}' }, health: { path: '/' } }) },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Web')).status, 200);
  const saved = JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8')).web;
  t.ok(saved.port > port, 'the next free port upward');
  t.same(saved.env, { PORT: '{port}' });
  await until(async () => (await status(app, 'Web')).health_status === 'healthy');
  t.match(await status(app, 'Web'), {
    health_details: { probe: 'http', port: saved.port, http_status: 200, reported_status: 'ok' },
  });
});

t.test('splitting a command: quoting any words gives the words back', async t => {
  t.same(splitCommand(`a 'b c' "d \\" e" f\\ g ''`), ['a', 'b c', 'd " e', 'f g', '']);
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 0 }).filter(word => !word.includes("'"))), words => {
      const command = words.map(word => `'${word}'`).join(' ');
      return JSON.stringify(splitCommand(command)) === JSON.stringify(words);
    }),
  );
});

t.test('splitting a command: a backslash means what it means to a shell', t => {
  const commands = [
    String.raw`sh -c "printf 'a\nb'"`,
    String.raw`sed -e "s/\d/x/" 's/\d/x/' s/\\d/x/`,
    String.raw`"a\$b" "a\\b" "a\"b" "a\'b" a\'b a\ b`,
    'one \\\ntwo "three\\\nfour" fi\\\nve',
  ];
  for (const command of commands) {
    const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
    t.same(splitCommand(command), words.split('\0').slice(0, -1), command);
  }
  t.end();
});

t.test('a start that is cancelled just before its launch launches nothing', async t => {
  const dir = testDir(t, {});
  const abort = new AbortController();
  const plan: LaunchPlan = {
    processName: 'Kid',
    configKey: 'kid',
    block: {},
    trigger: 'request',
    signal: abort.signal,
    argv: ['mkdir', path.join(dir, 'launched')],
    cwd: undefined,
    env: { PATH: process.env.PATH ?? '' },
    givenEnv: new Set(),
    user: null,
    showWait: () => undefined,
    waits: { mounts: [], urls: [], tcp: [] },
  };
  const launching = launch(plan, await openOutput(plan, path.join(dir, 'kid.spool')));
  abort.abort(new Error('handed over'));
  await t.rejects(
    launching.then(({ exited }) => exited),
    { message: 'handed over' },
  );
  t.same(await readdir(dir), ['kid.spool']);
});
