// Commands of plugins against one running host: logs, attach, config, events, reload, top, login, and completion in
// shells.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { programOf } from '../../support/debian.ts';
import { startHost } from '../../support/host.ts';
import { COMMAND, spawnStackwarden } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const SPEAK = `process.stdout.write('one\\nWARNING two\\n  of two\\nERROR three \\u001b[31m\\u202e!\\n');
  process.stdin.on('data', text => console.log('told ' + text));
  require('fs').watch(process.argv[1], () => console.log('heard ' + require('fs').readFileSync(process.argv[1], 'utf8')));`;

const app = await startHost({
  plugins: ['config', 'process', 'logs', 'metrics', 'auth', 'host-events', 'host-reload', 'health-probe'],
  config: {
    speaker: { enabled: false, process_name: 'The Speaker', command: ['sleep', '600'], config_dir: '/' },
    other: {
      enabled: false,
      process_name: 'Other',
      command: ['sleep', '600'],
      config_dir: '/',
      log_file: 'structured.log',
    },
  },
});
t.teardown(() => app.stop());
const command = (...args: string[]) => runCommand(app, ...args);
const speech = path.join(app.configDir, 'speech');
await chmod(app.configDir, 0o755);
await writeFile(speech, '', { mode: 0o644 });
await app.post('/config', {
  process_name: 'The Speaker',
  persist: true,
  updates: { command: [process.execPath, '-e', SPEAK, speech], stop_grace_seconds: 1, stdin: true },
});

/** Starts a command that runs until it is ended. */
function follow(t: { teardown(end: () => void): void }, ...args: string[]) {
  const following = spawnStackwarden(app.configDir, { args: ['--url', app.base, ...args] });
  t.teardown(() => following.child.kill());
  return following;
}

t.test('config reads and changes single values', async t => {
  t.match(await command('config', 'get', 'speaker.process_name'), { code: 0, stdout: 'The Speaker\n' });
  t.same(JSON.parse((await command('config', 'get', 'other.command')).stdout), ['sleep', '600']);
  t.match(await command('config', 'get', 'other.command.1'), { stdout: '600\n' });
  for (const [place, remedy] of [
    ['other.nothing', 'stackwarden config get other prints what is there'],
    ['other.command.9', 'stackwarden config get other.command prints what is there'],
    ['other.comand', 'did you mean other.command?'],
    ['speeker.process_name', 'did you mean speaker?'],
    ['nope', 'stackwarden config get prints what is there'],
    ['__proto__.x', 'stackwarden config get prints what is there'],
  ] as const) {
    const stderr = `stackwarden: the configuration has no ${place}; ${remedy}\n`;
    t.match(await command('config', 'get', place), { code: 1, stdout: '', stderr }, place);
  }
  t.match(await command('config', 'set', 'other.env', '{"A": "b"}'), { code: 0, stdout: 'changed: other.env\n' });
  t.match(await command('config', 'set', 'dumb.log_level', 'debug', '--memory'), {
    code: 0,
    stdout: /dumb\.log_level/,
  });
  const saved = JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));
  t.same([saved.other.env, saved.dumb.log_level], [{ A: 'b' }, undefined]);
  t.match(await command('config', 'set', 'other.port', 'many'), {
    code: 1,
    stdout: '',
    stderr: /^stackwarden: .*port/,
  });
  const unknown = await command('config', 'set', 'nope.port', '1');
  t.match(unknown, {
    code: 1,
    stderr: /^stackwarden: 'nope' is neither .*; GET \/config\/schema lists the sections\n$/,
  });
  for (const args of [
    ['set', 'a'],
    ['set', 'a..b', '1'],
    ['get', 'a..b'],
    ['get', ''],
    ['get', 'a', 'b'],
    ['put', 'a'],
    [],
  ])
    t.match(await command('config', ...args), { code: 2 }, args.join(' '));
});

t.test('`logs` prints lines of one, several or all services, by number and level, and follows', async t => {
  t.match(await command('start', 'the speaker', '--wait'), { code: 0 });
  await until(async () => /three/.test((await command('logs', 'The Speaker')).stdout));
  const logs = (await command('logs', 'The Speaker')).stdout;
  t.match(logs, /- INFO - .*one\n.*- WARNING - .*two\n.*of two\n.*- ERROR - .*three .*!\n$/);
  t.notMatch(logs, /[\u001b\u202e]/, 'nothing that a terminal would act upon');
  t.equal((await command('logs', 'The Speaker', '-n', '1')).stdout, `${logs.trimEnd().split('\n').at(-1)}\n`);
  const errors = (await command('logs', 'The Speaker', '--level', 'ERROR')).stdout;
  t.match(errors, /^[^\n]*three[^\n]*\n$/);
  // A service that writes its own log in JSON.
  const structured = (level: string) => `{"ts":1700000000,"msg":"an error, or not","level":${level}}\n`;
  const levels = ['"debug"', '50', '"INFO"', '"fatal"', '"odd"'];
  await writeFile(
    path.join(app.configDir, 'log', 'structured.log'),
    `${levels.map(structured).join('')}  of the last\n`,
  );
  t.equal(
    (await command('logs', 'Other', '--level', 'ERROR')).stdout,
    `${structured('50')}${structured('"fatal"')}${structured('"odd"')}  of the last\n`,
    'what has no level belongs to the line before',
  );
  t.match(await command('logs', '--level', 'loud'), { code: 2, stderr: /'--level' is DEBUG, .* or CRITICAL/ });
  t.match((await command('logs')).stdout, /The Speaker subprocess: .*one/, 'the own log has the output of all');
  t.match((await command('logs', '*e*', '-n', '2')).stdout, /^The Speaker \| .*- ERROR - /m);

  const following = follow(t, 'logs', 'The Speaker', '-f', '-n', '0');
  const attached = follow(t, 'attach', 'the speaker');
  await until(async () => attached.stderr().includes('following The Speaker'));
  // Only what is written after both follow is new.
  await until(async () => {
    await appendFile(speech, '!');
    return /heard !/.test(following.stdout()) && /heard !/.test(attached.stdout());
  });
  t.notMatch(following.stdout(), 'three', 'nothing of before');
  t.match(attached.stdout(), 'three');
  const typing = spawn(process.execPath, [...COMMAND, '--url', app.base, 'attach', 'The Speaker'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  typing.stdin.end('a word\n');
  await until(async () => /told a word/.test(following.stdout()), { what: 'the service to be told' });
  t.match(await command('stop', 'The Speaker'), { code: 0 });
  t.equal(typing.exitCode ?? (await once(typing, 'exit'))[0], 0, 'the end of the input is not the end of it');
  t.match(await attached.exited, { code: 0 }, 'it ends with the service');
  t.match(await command('attach', 'The Speaker'), { code: 1, stderr: /does not run/ });
  t.match(await command('graph'), { code: 1, stderr: /no \/process\/dependency-graph\/whole; load the plugin/ });
  t.match(await command('attach', '*e*'), { code: 1, stderr: /fits The Speaker and Other/ });
});

t.test('`events` prints past events, and follows new ones', async t => {
  const before = await command('events', '--type', 'service_*');
  t.match(before.stdout, /^\d{4}-\d\d-\d\dT\S+Z {2}service_start {2}The Speaker {2}trigger="request"$/m);
  t.notMatch(before.stdout, 'dumb.startup');
  const [first] = (await command('events', '--json')).stdout.split('\n');
  t.match(JSON.parse(first ?? ''), { id: Number, type: String, plugin: String, at: Number, data: Object });
  const following = follow(t, 'events', '-f', '--type', 'service_start');
  await until(async () => following.stdout() !== '');
  t.match(await command('start', 'Other'), { code: 0 });
  await until(async () => /service_start {2}Other/.test(following.stdout()));
  const { last } = (await app.get('/host/events')).body;
  t.same((await app.get(`/host/events?after=${last}`)).body, { events: [], last });
});

t.test('`reload` reads the file again and names what does not fit', async t => {
  const file = path.join(app.configDir, 'stackwarden.json');
  const good = await readFile(file, 'utf8');
  t.match(await command('reload'), { code: 0, stdout: /read again/ });
  await writeFile(file, good.replace('"Other",', '"Other", "port": "many",'));
  t.match(await command('reload'), { code: 1, stderr: /other\.port/ });
  await writeFile(file, good);
  t.match(await command('reload'), { code: 0 });
});

t.test('top shows the machine and each service', async t => {
  const { code, stdout } = await command('top');
  t.equal(code, 0);
  t.match(stdout, /^CPU (-|[\d.]+%) of \d+, load [\d. ]+, memory [\d.]+ .iB of [\d.]+ .iB\nNAME +PID +CPU +MEMORY/);
  t.match(stdout, /^Other +\d+ +(-|[\d.]+%) +[\d.]+ .iB +1 +1 +/m);
});

/** What each shell suggests after these words, of which the last is incomplete. */
const SHELLS: Readonly<Record<string, (words: readonly string[]) => string>> = {
  bash: words => `source <(stackwarden completion bash)
    COMP_WORDS=(stackwarden ${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
    _stackwarden; printf '%s\n' "\${COMPREPLY[@]}"`,
  zsh: words => `compdef() { : }; compadd() { shift; print -rl -- "$@" }
    source <(stackwarden completion zsh)
    words=(stackwarden ${words.map(word => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}; _stackwarden`,
  fish: words => `stackwarden completion fish | source; complete -C 'stackwarden ${words.join(' ')}'`,
};

for (const [shell, script] of Object.entries(SHELLS)) {
  const program = await programOf([shell], [shell]).catch(() => undefined);
  t.test(`${shell} completes words`, { skip: program === undefined && `needs ${shell}` }, async t => {
    const bin = path.join(app.configDir, 'bin');
    await mkdir(bin, { recursive: true });
    const words = [process.execPath, ...COMMAND, '--config-dir', app.configDir].map(word => `'${word}'`).join(' ');
    await writeFile(path.join(bin, 'stackwarden'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: app.configDir,
      STACKWARDEN_URL: app.base,
    };
    const offered = async (...typed: string[]) => {
      const flags = shell === 'fish' ? ['--no-config'] : shell === 'zsh' ? ['-f'] : ['--norc'];
      const { stdout } = await run(program ?? shell, [...flags, '-c', script(typed)], { env });
      return stdout.split('\n').filter(line => line !== '');
    };
    const name = shell === 'bash' ? 'The\\ Speaker' : 'The Speaker';
    t.same(await offered('sta'), ['start', 'status']);
    t.same(await offered('stop', 'The'), [name]);
    t.same(await offered('logs', '-n', '5', '--le'), ['--level']);
    t.same(await offered('logs', '--level', 'E'), ['ERROR']);
    t.same(await offered('check', '--pl'), ['--plugins']);
    t.notOk((await offered('status', '--')).includes('--plugins'), 'to those that read them');
    t.same(await offered('config', 'get', 'speaker.pr'), ['speaker.process_name']);
  });
}

t.test('a login is kept for its address, renewed, and forgotten', async t => {
  const kept = path.join(app.configDir, 'home', 'stackwarden', 'logins.json');
  t.match((await app.post('/auth/setup', { username: 'ann', password: 'correct horse' })).status, 200);
  t.match(await command('status'), { code: 1, stderr: /requires a login; run stackwarden login/ });
  t.match(await command('login', 'ann'), { code: 2, stderr: /--password-stdin/ });
  t.match(await login('wrong'), { code: 1, stdout: '' });
  const shown = await loginAtTerminal('correct horse');
  t.match(shown, /logged in to /);
  t.notMatch(shown, 'correct horse');
  t.match(await login('\uFEFFcorrect horse\r'), { code: 0 }, 'from a file that an editor on Windows has written');
  t.match(await login('correct horse'), { code: 0, stdout: `logged in to ${app.base} as ann\n` });
  t.equal((await stat(kept)).mode & 0o777, 0o600);
  t.match(await command('status'), { code: 0 });
  const logins = JSON.parse(await readFile(kept, 'utf8'));
  t.same(Object.keys(logins), [app.base]);
  await writeFile(kept, JSON.stringify({ [app.base]: { ...logins[app.base], access_token: 'expired' } }));
  t.match(await command('status'), { code: 0 });
  t.not(JSON.parse(await readFile(kept, 'utf8'))[app.base].access_token, 'expired');
  const following = spawnStackwarden(app.configDir, {
    args: ['--url', app.base, 'events', '-f'],
    env: { STACKWARDEN_TOKEN: '', XDG_CONFIG_HOME: path.join(app.configDir, 'home') },
  });
  for (const round of [1, 2]) {
    await writeFile(kept, JSON.stringify({ [app.base]: { ...logins[app.base], access_token: 'expired' } }));
    const isRenewed = async () => !(await readFile(kept, 'utf8')).includes('expired');
    await until(isRenewed, { what: `what goes on to renew its login, time ${round}` });
  }
  following.child.kill();
  await following.exited;
  await writeFile(kept, JSON.stringify({ [app.base]: { access_token: 'no', refresh_token: 'no' } }));
  t.match(await command('status'), { code: 1, stderr: /run stackwarden login again/ });
  t.match(await runCommand({ ...app, env: { STACKWARDEN_TOKEN: logins[app.base].access_token } }, 'status'), {
    code: 0,
  });
  t.match(await runCommand({ ...app, env: { STACKWARDEN_TOKEN: 'no' } }, 'status'), {
    code: 1,
    stderr: 'stackwarden: the token in STACKWARDEN_TOKEN is not accepted; POST /auth/login answers a new one\n',
  });
  const token = logins[app.base].access_token;
  t.match(await runCommand({ ...app, env: { STACKWARDEN_TOKEN: `${token}\r\n` } }, 'status'), {
    code: 0,
  });
  t.match(await runCommand({ ...app, env: { STACKWARDEN_TOKEN: `${token.slice(0, 20)}…` } }, 'status'), {
    code: 1,
    stderr: /^stackwarden: STACKWARDEN_TOKEN holds characters that no token has; set it to the access_token/,
  });
  t.match(await command('logout'), { code: 0, stdout: `logged out of ${app.base}; no login for it is kept\n` });
  t.same(JSON.parse(await readFile(kept, 'utf8')), {});
  t.match(await command('status'), { code: 1, stderr: /requires a login/ });
});

/** The output of a login in a terminal. */
async function loginAtTerminal(password: string): Promise<string> {
  const words = [process.execPath, ...COMMAND, '--url', app.base, 'login', 'ann'].map(word => `'${word}'`).join(' ');
  const env = { ...process.env, NODE_OPTIONS: '', XDG_CONFIG_HOME: path.join(app.configDir, 'home') };
  const terminal = spawn('script', ['-qec', words, '/dev/null'], { env });
  let shown = '';
  terminal.stdout.on('data', part => {
    shown += part;
    if (/Password of ann for \S+ $/.test(shown)) terminal.stdin.write(`${password}\n`);
  });
  await new Promise(resolve => terminal.once('close', resolve));
  return shown;
}

async function login(password: string): Promise<CommandResult> {
  const env = { ...process.env, NODE_OPTIONS: '', XDG_CONFIG_HOME: path.join(app.configDir, 'home') };
  const child = spawn(process.execPath, [...COMMAND, '--url', app.base, 'login', 'ann', '--password-stdin'], { env });
  let stdout = '';
  child.stdout.on('data', part => {
    stdout += part;
  });
  child.stdin.end(`${password}\n`);
  const code = await new Promise<number | null>(resolve => child.once('close', resolve));
  return { code, stdout, stderr: '' };
}
