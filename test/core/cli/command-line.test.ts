// The command line: commands, options, and one clear line for each error.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { parseCommandLine } from '../../../core/cli/command-line.ts';
import { testDir } from '../../support/directory.ts';
import { COMMAND, spawnStackwarden, startStackwarden, writeConfig } from '../../support/stackwarden.ts';

const hasGraph = existsSync(new URL('../../../plugins/dependency-graph/index.ts', import.meta.url));

const run = promisify(execFile);
const rootDir = fileURLToPath(new URL('../../..', import.meta.url));
const needsRoot = process.getuid?.() === 0 ? false : 'only root may mount';

const DIR = '/nonexistent';

async function parse(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return parseCommandLine(args, { STACKWARDEN_CONFIG_DIR: DIR, ...env });
}

t.test('commands and options are parsed in any order', async t => {
  t.match(await parse([]), { name: 'start', args: [], options: {}, configDir: DIR, url: undefined });
  t.match(await parse(['start', '--example']), { name: 'start', options: { example: true } });
  t.match(await parse(['--example', 'start', '--pace', '0.5']), {
    name: 'start',
    options: { example: true, pace: '0.5' },
  });
  t.match(await parse(['--example']), { name: 'start', options: { example: true } });
  t.match(await parse(['check', '--config-dir', '/tmp/x']), { name: 'check', configDir: '/tmp/x' });
  t.match(await parse(['--plugins', 'a, b']), { name: 'start', options: { plugins: 'a, b' } });
  t.match(await parse(['--plugins', 'check']), { name: 'start', options: { plugins: 'check' } });
  t.match(await parse(['--version']), { name: 'version' });
  t.match(await parse(['check', '--plugins', 'a', '--help']), { name: 'help', args: ['check'] });
  t.match(await parse(['start', '--help']), { name: 'help', args: ['start'] });
  t.match(await parse(['-h']), { name: 'help', args: [] });
  t.match(await parse(['--config-dir=/tmp/opt']), { configDir: '/tmp/opt' });
  t.match(await parse(['plugins', '--url', 'https://host:1/api/']), { url: 'https://host:1/api' });
  t.match(await parse(['plugins'], { STACKWARDEN_URL: 'http://[::1]:1' }), { url: 'http://[::1]:1' });
});

t.test('commands and options of plugins are parsed', { skip: !hasGraph }, async t => {
  t.match(await parse(['graph', 'My App', '--scope', 'all']), {
    name: 'graph',
    args: ['My App'],
    options: { scope: 'all' },
  });
  t.match(await parse(['graph']), { name: 'graph', args: [], options: {} });
  t.match(await parse(['--scope', 'all', 'graph', '--', '--odd']), { name: 'graph', args: ['--odd'] });
});

t.test('a mistake in the arguments gives one sentence', async t => {
  for (const [args, message] of [
    [['dance'], /^unknown command 'dance'; there are .*check, .*start/],
    [['stat'], /^unknown command 'stat'; did you mean status\?/],
    [['chekc'], /^unknown command 'chekc'; did you mean check\?/],
    [['../start'], /^unknown command/],
    [['constructor'], /^unknown command/],
    [['check', 'now'], /^unexpected argument 'now'; stackwarden help check tells what it takes$/],
    [['--wat'], /^unknown option '--wat'/],
    [['check', '--zebra'], /^unknown option '--zebra'; stackwarden help check tells what it takes$/],
    [['start', '--exmple'], /^unknown option '--exmple' \(Did you mean --example\?\)$/],
    [['--config-dir'], /config-dir.*; stackwarden help lists all options$/],
    [['check', '--example'], /^'--example' belongs to 'start'; stackwarden help check tells what it takes$/],
    [['help', '--example'], /^'--example' belongs to 'start'; stackwarden help lists the commands$/],
    [
      ['version', '--plugins', 'config'],
      /^'--plugins' belongs to 'check', 'plugins', 'start'; stackwarden help version/,
    ],
    [['--plugins', 'config', 'help'], /^'--plugins' belongs to .*; stackwarden help lists the commands$/],
    [['check', '--url', 'localhost:80'], /'localhost:80' is no address of a host/],
    [['completion'], /missing required argument 'SHELL'; stackwarden help completion tells what it takes$/],
    [['completion', 'csh'], /^SHELL is bash, zsh or fish$/],
    ...(hasGraph
      ? ([
          [['graph', 'a', 'b'], /^unexpected argument 'b'/],
          [['graph', '--scope', 'some'], /^'--scope' is runtime or all/],
          [['check', '--scope', 'all'], /^'--scope' belongs to 'graph'/],
          [['status', '--plugins', 'config'], /^'--plugins' belongs to 'check', 'plugins', 'start'; /],
          [['check', '--json'], /^'--json' belongs to 'events', 'status'; /],
        ] as const)
      : []),
  ] as const) {
    await t.rejects(parse(args), { message });
  }
});

t.test('a mistake in the arguments prints one line and exits with 2', async t => {
  const configDir = testDir(t, {});
  for (const [args, message] of [
    [['start', '--wat'], /^stackwarden: .*--wat.*\n$/],
    [['--pace', '0', 'start'], /^stackwarden: '--pace' is a number above 0\n$/],
    [['check', '--plugins', 'a,,b'], /^stackwarden: .*separated by commas.*\n$/],
    [['create-plugin'], /^stackwarden: create-plugin needs a name.*\n$/],
    [['help', 'dance'], /^stackwarden: unknown command 'dance'.*\n$/],
  ] as const) {
    const run = spawnStackwarden(configDir, { args });
    t.same(await run.exited, { code: 2, signal: null });
    t.match(run.stderr(), message);
  }
});

t.test('a plugin of the configuration directory brings a command of its own', async t => {
  const greet = `export default {
    summary: 'greet somebody',
    arguments: [{ syntax: '[NAME]', description: 'whom' }],
    options: [{ flags: '-l, --loud', description: 'so that all hear it' }],
    async run({ args: [name = 'you'], options, output }) {
      output.line(\`Hello \${options.loud ? name.toUpperCase() : name}\\u001b[31m\\u202e\`);
      return 4;
    },
  };`;
  const folder = {
    'index.js': `export default { name: 'greeter', host: '^1', setup () {} }`,
    commands: { 'greet.js': greet },
  };
  const leave = {
    commands: { 'leave.js': greet.replaceAll('Hello', 'Bye'), 'part.js': greet.replace('desc', 'decs') },
  };
  const configDir = testDir(t, { plugins: { greeter: folder }, others: { leaver: leave } });
  const greeting = spawnStackwarden(configDir, { args: ['greet', 'Ann', '-l'] });
  t.same(await greeting.exited, { code: 4, signal: null });
  t.equal(greeting.stdout(), 'Hello ANN[31m\n', 'nothing that a terminal would act upon');
  const help = spawnStackwarden(configDir, { args: ['greet', '--help'] });
  await help.exited;
  t.match(help.stdout(), /greet \[options\] \[NAME\].*greet somebody.*-l, --loud +so that all hear it/s);
  await writeConfig(configDir, { dumb: { plugins: { dirs: [path.join(configDir, 'others')] } } });
  const leaving = spawnStackwarden(configDir, { args: ['leave', 'Ann'] });
  t.same(await leaving.exited, { code: 4, signal: null }, leaving.stderr());
  t.match(leaving.stdout(), /^Bye Ann/, 'and so does one of dumb.plugins.dirs');
  const misspelt = spawnStackwarden(configDir, { args: ['part', 'Ann'] });
  t.match(await misspelt.exited, { code: 1 });
  t.match(misspelt.stderr(), /\[NAME\] of \S*part\.js has no 'description' but 'decsription'; write 'description'/);
  await chmod(path.join(configDir, 'plugins', 'greeter', 'commands', 'greet.js'), 0o666);
  const refused = spawnStackwarden(configDir, { args: ['greet'] });
  t.match(await refused.exited, { code: 1 });
  t.match(refused.stderr(), /greet\.js .*who could change the plugin/);
});

t.test('a command in TypeScript runs as index.ts does, or is refused with what to do', async t => {
  const ring = `export default { summary: 'ring', run: async (): Promise<number> => 4 };`;
  const configDir = testDir(t, { plugins: { ringer: { 'index.js': '', commands: { 'ring.ts': ring } } } });
  const run = spawnStackwarden(configDir, { args: ['ring'] });
  const { code } = await run.exited;
  // In this process tsx says that Node runs TypeScript.
  const node = spawnSync(process.execPath, ['-p', 'Boolean(process.features.typescript)'], { env: {} });
  const isRun = process.env.STACKWARDEN_TEST_BUILD === undefined || String(node.stdout).trim() === 'true';
  t.equal(code, isRun ? 4 : 1);
  t.match(run.stderr(), isRun ? /^$/ : /does not run .*ring\.ts; compile it to JavaScript \(npx tsc\), or take Node/);
});

t.test('a slow reader gets all output of a command', async t => {
  const LINES = 20_000;
  const much = (end: string) => `export default {
    summary: 'say much',
    async run({ output }) {
      for (let line = 1; line <= ${LINES}; line += 1) output.line('line ' + line + ' of many, each of some length');
      ${end}
    },
  };`;
  const commands = { 'much.js': much('return 4;'), 'broken.js': much("throw new Error('broken off');") };
  const configDir = testDir(t, { plugins: { speaker: { 'index.js': '', commands } } });
  for (const [name, code, stderr] of [
    ['much', 4, ''],
    ['broken', 1, 'stackwarden: broken off\n'],
  ] as const) {
    const speaking = spawnStackwarden(configDir, { args: [name] });
    t.same(await speaking.exited, { code, signal: null }, name);
    t.equal(speaking.stdout().split('\n').length, LINES + 1, name);
    t.ok(speaking.stdout().endsWith(`line ${LINES} of many, each of some length\n`), name);
    t.equal(speaking.stderr(), stderr);
  }
});

t.test('a faulty command of a plugin does not affect other commands', async t => {
  const greet = (members: string, code: string) =>
    `export default { summary: 'greet', ${members} run: async () => ${code} };`;
  const commands = {
    'args.js': greet(`arguments: 'NAME',`, '0'),
    'flags.js': greet(`options: [{ flag: '--loud' }],`, '0'),
    'words.js': greet(`options: '--loud',`, '0'),
    'twice.js': greet(`options: [{ flags: '--loud' }, { flags: '--loud' }],`, '0'),
    'half.js': greet('', '1.5'),
    'silent.js': greet('', 'undefined'),
  };
  const configDir = testDir(t, { plugins: { greeter: { commands } } });
  const ask = async (...args: string[]) => {
    const run = spawnStackwarden(configDir, { args });
    const { code } = await run.exited;
    return { code, stdout: run.stdout(), stderr: run.stderr() };
  };
  const help = await ask('help');
  t.match(help, { code: 0, stderr: '' });
  for (const name of ['args', 'flags', 'words', 'twice'])
    t.match(help.stdout, new RegExp(`^  ${name} +cannot be loaded: .+$`, 'm'));
  t.match(help.stdout, /^ {2}version +print the version$/m);
  t.match(await ask('version', '--odd'), { code: 2, stderr: /^stackwarden: unknown option '--odd'; .*\n$/ });
  t.match(await ask('args'), { code: 1, stderr: /^stackwarden: the arguments of \S+args\.js are no list .*\n$/ });
  t.match(await ask('flags'), { code: 1, stderr: /^stackwarden: the options of \S+flags\.js are no list .*\n$/ });
  t.match(await ask('half'), { code: 1, stderr: /^stackwarden: the command gives 1\.5 as its exit code\n$/ });
  t.match(await ask('silent'), { code: 0, stderr: '' });
});

t.test('an unknown plugin is an error that suggests similar names', async t => {
  const configDir = testDir(t, { more: { greeter: { 'index.js': '' } } });
  await writeConfig(configDir, { dumb: { plugins: { dirs: [path.join(configDir, 'more')] } } });
  for (const args of [['start'], ['start', '--example'], ['check'], ['plugins']]) {
    const run = spawnStackwarden(configDir, { args: [...args, '--plugins', 'config,greter,nosuch,sonarr'] });
    t.equal((await run.exited).code, 1, args.join());
    const [line = ''] = run.stderr().split('\n');
    t.equal(
      line,
      "stackwarden: there is no plugin 'greter'; 'greeter' is probably meant; there is no plugin 'nosuch'; " +
        "there is no plugin 'sonarr'; perhaps 'migration-sonarr' is meant; `stackwarden plugins` lists all",
    );
    t.equal(run.stdout(), '', 'nothing was begun');
  }
  t.same((await readdir(configDir)).sort(), ['more', 'stackwarden.json']);
  const absent = path.join(configDir, 'absent');
  t.match(await spawnStackwarden(absent, { args: ['start', '--plugins', 'nosuch'] }).exited, { code: 1 });
  await t.rejects(stat(absent), { code: 'ENOENT' });
});

t.test('a configuration directory that cannot be created is an error', async t => {
  const configDir = testDir(t, { file: 'text' });
  for (const place of [
    '/proc/stackwarden/config',
    path.join(configDir, 'file'),
    path.join(configDir, 'file', 'below'),
  ]) {
    const run = spawnStackwarden(place);
    t.equal((await run.exited).code, 1, place);
    t.match(run.stderr(), /^stackwarden: .*; choose another --config-dir\n$/, place);
  }
});

t.test('a file as directory, or an unreadable configuration, is an error', async t => {
  const configDir = testDir(t, { file: 'text', closed: { 'stackwarden.json': '{}' } });
  const file = path.join(configDir, 'file');
  const closed = path.join(configDir, 'closed');
  for (const [args, place, fault] of [
    [['start'], file, `${file} is no directory; choose another --config-dir`],
    ...[['check'], ['plugins'], ['status'], ['health']].map(
      args => [args, file, `there is no directory ${file}; name another with --config-dir`] as const,
    ),
  ] as const) {
    const run = spawnStackwarden(place, { args });
    t.equal((await run.exited).code, 1, args.join());
    t.match(run.stderr(), new RegExp(`^(stackwarden: )?${fault}\n$|\nstackwarden: ${fault}\n$`), args.join());
  }
  if (needsRoot !== false) return;
  await chmod(path.join(closed, 'stackwarden.json'), 0o600);
  const words = ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath, ...COMMAND];
  const options = { cwd: rootDir, env: { ...process.env, NODE_OPTIONS: '' } };
  for (const command of ['check', 'status']) {
    const failed = await run('setpriv', [...words, command, '--config-dir', closed], options).catch(error => error);
    const remedy = 'run this as the user of Stackwarden, or name another directory with --config-dir';
    const fault = `${closed}/stackwarden.json: permission denied; ${remedy}`;
    t.match(failed, { code: 1, stdout: '', stderr: `stackwarden: ${fault}\n` }, command);
  }
});

t.test('plugin folders without readable commands do not affect other commands', async t => {
  const configDir = testDir(t, {
    file: { plugins: 'text' },
    deeper: { plugins: { greeter: { commands: 'text' } } },
    closed: { plugins: {}, 'stackwarden.json': '{}' },
  });
  const asNobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
  const places: readonly (readonly [string, readonly string[]])[] = [
    ['file', []],
    ['deeper', []],
    ...(needsRoot === false ? [['closed', asNobody] as const] : []),
  ];
  await chmod(path.join(configDir, 'closed', 'plugins'), 0o700);
  await chmod(path.join(configDir, 'closed', 'stackwarden.json'), 0o600);
  for (const [place, within] of places) {
    const ask = async (command: string) => {
      const run = spawnStackwarden(path.join(configDir, place), { args: [command], within });
      return { ...(await run.exited), stdout: run.stdout(), stderr: run.stderr() };
    };
    t.match(await ask('version'), { code: 0, stderr: '' }, place);
    t.match(await ask('help'), { code: 0, stdout: /^ {2}version +print the version$/m, stderr: '' }, place);
    t.match(await ask('verson'), { code: 2, stderr: /^stackwarden: unknown command 'verson'; .* version\?\n$/ }, place);
  }
});

t.test('check names file, line, column and what was expected', async t => {
  const configDir = testDir(t, {});
  await writeConfig(configDir);
  const args = ['check', '--plugins', 'config'];
  const fine = spawnStackwarden(configDir, { args });
  t.equal((await fine.exited).code, 0, fine.stderr());
  await writeFile(path.join(configDir, 'stackwarden.json'), '{\n  "puid": 1000,\n  "pgid" 1000\n}\n');
  const run = spawnStackwarden(configDir, { args });
  t.equal((await run.exited).code, 1);
  t.match(run.stderr(), /stackwarden\.json:3:\d+.*expected/i);
  for (const text of ['', ' \n']) {
    await writeFile(path.join(configDir, 'stackwarden.json'), text);
    const empty = spawnStackwarden(configDir, { args });
    t.equal((await empty.exited).code, 1);
    t.equal(empty.stderr(), `${configDir}/stackwarden.json is empty; write {} into it, or remove it\n`);
  }
});

t.test('a second host on a directory or port is refused', async t => {
  const configDir = testDir(t, { a: {}, b: {} });
  const port = await writeConfig(path.join(configDir, 'a'));
  const service = await startStackwarden(path.join(configDir, 'a'), port, { plugins: ['health'] });
  const second = spawnStackwarden(path.join(configDir, 'a'));
  t.equal((await second.exited).code, 1);
  t.match(second.stderr(), /^stackwarden: another Stackwarden \(pid \d+ on .+\) runs on .*\n$/);

  const health = spawnStackwarden(path.join(configDir, 'a'), { args: ['health'] });
  t.equal((await health.exited).code, 0, health.stdout() + health.stderr());
  service.child.kill('SIGTERM');
  t.same(await service.exited, { code: 0, signal: null });
  const afterwards = spawnStackwarden(path.join(configDir, 'a'), { args: ['health'] });
  t.equal((await afterwards.exited).code, 1);
  t.match(afterwards.stderr(), new RegExp(`^stackwarden: nothing answers at http://127.0.0.1:${port}; start .*\n$`));

  const taken = createServer();
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const address = taken.address() as { port: number };
  await writeConfig(path.join(configDir, 'b'), { dumb: { api_service: { port: address.port } } });
  const blocked = spawnStackwarden(path.join(configDir, 'b'), { args: ['start', '--plugins', 'health'] });
  t.equal((await blocked.exited).code, 1);
  t.match(blocked.stderr(), new RegExp(`^stackwarden: .*127.0.0.1:${address.port}.*\n$`));
});

t.test('a read-only configuration directory is an error', { skip: needsRoot }, async t => {
  const configDir = testDir(t);
  await writeConfig(configDir);
  await run('mount', ['--bind', configDir, configDir]);
  t.teardown(() => run('umount', ['--lazy', configDir]));
  await run('mount', ['-o', 'remount,ro,bind', configDir]);
  const host = spawnStackwarden(configDir);
  t.equal((await host.exited).code, 1);
  const reason = `${configDir}/supervisor: read-only file system`;
  const remedy = 'make the configuration directory writable, or choose another --config-dir';
  t.equal(host.stderr(), `stackwarden: ${reason}; ${remedy}\n`);
});

t.test('version and help need no configuration', async t => {
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
  const configDir = testDir(t, {});
  const ask = async (...args: string[]) => {
    const run = spawnStackwarden(configDir, { args });
    return { ...(await run.exited), stdout: run.stdout(), stderr: run.stderr() };
  };
  t.same(await ask('--version'), { code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  const help = await ask('--help');
  t.match(help, { code: 0, stderr: '' });
  for (const word of ['start', 'check', 'plugins', 'health', '--config-dir', '--plugins', '--url', '--version']) {
    t.ok(help.stdout.includes(word), `help tells of ${word}`);
  }
  t.same(await ask('-h'), help);
  t.match(await ask('plugins', 'surplus'), { code: 2, stdout: '', stderr: /^stackwarden: unexpected argument.*\n$/ });
  t.same(await readdir(configDir), [], 'nothing was written');
});

t.test('`plugins` lists all plugins with broken ones, and `check` names those', async t => {
  const configDir = testDir(t, {
    plugins: {
      fine: { 'index.js': `export default { name: 'fine', host: '^1', setup () {} }` },
      broken: { 'index.js': `throw new Error('no luck')` },
    },
  });
  await writeConfig(configDir, { dumb: { plugins: { disabled: ['docs'] } } });
  const list = spawnStackwarden(configDir, { args: ['plugins'] });
  t.same(await list.exited, { code: 0, signal: null });
  const rows = list.stdout().trimEnd().split('\n');
  const row = (name: string) => rows.find(line => line.startsWith(`${name} `));
  t.match(row('fine'), /^fine +ready +.*plugins\/fine$/);
  t.match(row('broken'), /^broken +failed +.*no luck/);
  const check = spawnStackwarden(configDir, { args: ['check', '--plugins', 'fine,broken'] });
  t.same(await check.exited, { code: 1, signal: null });
  t.match(check.stderr(), /^plugin broken: .*no luck.*\n$/);
  const chosen = spawnStackwarden(configDir, { args: ['plugins', '--plugins', 'fine'] });
  await chosen.exited;
  t.match(chosen.stdout(), /^fine +ready /m);
  t.notMatch(chosen.stdout(), /^broken +(ready|failed) /m);
});

t.test('`plugins` and `check` print no control characters, and each fault on one line', async t => {
  const configDir = testDir(t, {
    plugins: {
      loud: { 'index.js': `throw new Error('no\\u001b[2J\\u202e luck\\nat all')` },
    },
  });
  await writeConfig(configDir, { 'odd\u001b[2J': {}, dumb: { plugins: { dirs: ['/nowhere\u001b[2J'] } } });
  const list = spawnStackwarden(configDir, { args: ['plugins', '--plugins', 'loud'] });
  t.same(await list.exited, { code: 0, signal: null });
  t.match(list.stdout(), /^loud +failed +no\[2J luck at all .*$/m);
  const check = spawnStackwarden(configDir, { args: ['check', '--plugins', 'loud'] });
  t.same(await check.exited, { code: 1, signal: null });
  t.match(check.stderr(), /^plugin loud: no\[2J luck at all .*\n$/m);
  t.match(check.stderr(), /^dumb\.plugins\.dirs: .*\/nowhere\[2J/m);
  t.match(check.stdout(), /^note: .*'odd\[2J'$/m);
});

t.test('`health` names what is not healthy and exits with 1', async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir);
  const answers = ['{"status":"unhealthy","details":"Files is down"}', '{"detail":"Healthcheck timed out"}', 'no JSON'];
  const server = createHttpServer((_request, response) => response.end(answers.shift()));
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  for (const output of [
    'unhealthy: Files is down\n',
    'Healthcheck timed out\n',
    'what answers is no Stackwarden (HTTP 200); look at the address\n',
  ]) {
    const health = spawnStackwarden(configDir, { args: ['health'] });
    t.same(await health.exited, { code: 1, signal: null });
    t.equal(health.stdout(), output);
  }
  server.removeAllListeners('request');
  server.on('request', (_request, response) => response.writeHead(404).end('{"detail":"Not found"}'));
  const without = spawnStackwarden(configDir, { args: ['health'] });
  t.same(await without.exited, { code: 1, signal: null });
  t.equal(without.stderr(), 'stackwarden: the running host has no /health; load the plugin that answers it\n');
  const deaf = createServer(socket => socket.destroy());
  server.close();
  await new Promise<void>(resolve => server.once('close', () => deaf.listen(port, '127.0.0.1', resolve)));
  t.teardown(() => deaf.close());
  const health = spawnStackwarden(configDir, { args: ['health'] });
  t.same(await health.exited, { code: 1, signal: null });
  t.match(health.stderr(), /^stackwarden: nothing answers at http:\S+ \(.+\); /, 'why, as other commands say it');
});

t.test('output that cannot be written is a failure', async t => {
  const within = ['sh', '-c', 'exec "$@" > /dev/full', 'sh'];
  const configDir = testDir(t, {});
  for (const args of [['version'], ['help'], ['plugins', '--plugins', 'docs']]) {
    const full = spawnStackwarden(configDir, { args, within });
    t.same(await full.exited, { code: 1, signal: null }, args.join(' '));
    t.match(full.stderr(), /^stackwarden: the output cannot be written: no space left on device.*\n$/);
  }
});

t.test('`graph` draws the answer of the running host', { skip: !hasGraph }, async t => {
  const configDir = testDir(t, {});
  const config = {
    server: { enabled: true, process_name: 'The "Server"', command: ['sleep', '600'], config_dir: '/' },
    client: {
      enabled: true,
      process_name: 'Client',
      command: ['sleep', '600'],
      config_dir: '/',
      core_service: 'server',
    },
    off: { enabled: false, process_name: 'Off', command: ['sleep', '600'], core_service: 'server' },
  };
  const port = await writeConfig(configDir, config);
  const silent = spawnStackwarden(configDir, { args: ['graph'] });
  t.match(await silent.exited, { code: 3 });
  t.match(silent.stderr(), /nothing answers at http.*; start Stackwarden, or name one that runs by --url/);
  const running = await startStackwarden(configDir, port, {
    plugins: ['dependency-graph', 'process', 'services', 'signal-core-service-fields'],
  });
  t.teardown(async () => {
    running.child.kill('SIGTERM');
    await running.exited;
  });
  const all = spawnStackwarden(configDir, { args: ['graph'] });
  t.match(await all.exited, { code: 0 });
  t.match(all.stdout(), /^flowchart LR\n/);
  t.match(all.stdout(), /n\d+\["The {2}Server <br\/>\w+"\]/, 'nothing that Mermaid would stumble over');
  t.match(all.stdout(), /n\d+ -->\|core_service_fields\| n\d+/);
  t.notMatch(all.stdout(), 'Off');
  const one = spawnStackwarden(configDir, { args: ['graph', 'Off'] });
  t.match(await one.exited, { code: 0 });
  t.match(one.stdout(), 'Off');
  const unknown = spawnStackwarden(configDir, { args: ['graph', 'Nobody'] });
  t.match(await unknown.exited, { code: 1 });
  t.match(unknown.stderr(), 'Process not found');
});
