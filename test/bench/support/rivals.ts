// Stackwarden and other supervisors, each with the same programs, driven by their own commands.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOf } from '../../support/debian.ts';
import { until } from '../../support/until.ts';
import { makePlace, startBuilt } from './built-host.ts';

const mainFile = fileURLToPath(new URL('../../../dist/core/cli/main.js', import.meta.url));
const PM2_VERSION = '7.0.4';

export interface Program {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly logFile: string;
}

export interface Rival {
  readonly name: string;
  /** The pid of the supervisor itself. */
  readonly pid: number;
  /** Start and stop programs by name, in one command each; `list` shows all programs. */
  start(names: readonly string[]): Promise<void>;
  stop(names: readonly string[]): Promise<void>;
  list(): Promise<void>;
  end(): Promise<void>;
}

export type Begin = (directory: string, programs: readonly Program[]) => Promise<Rival>;

async function run(words: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const [program = '', ...args] = words;
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${words.slice(0, 4).join(' ')} ended with ${code}`);
}

const beginStackwarden: Begin = async (directory, programs) => {
  const block = ({ name, command, logFile }: Program) => ({
    enabled: false,
    process_name: name,
    command,
    config_dir: '/',
    log_file: logFile,
    suppress_logging: true,
    restart: { policy: 'always', backoff_seconds: [0], max_restarts: 1_000 },
  });
  const place = await makePlace({
    ...Object.fromEntries(programs.map((program, index) => [`program_${index}`, block(program)])),
    // The other supervisors do not observe whether programs keep running, so this is off here.
    dumb: { startup: { stabilization_seconds: 0 }, log_dir: directory, log_size: '10G' },
  });
  const host = await startBuilt(place);
  const command = (...args: string[]) => run([process.execPath, mainFile, '--config-dir', place.configDir, ...args]);
  return {
    name: 'stackwarden',
    pid: host.pid,
    start: names => command('start', ...names),
    stop: names => command('stop', ...names),
    list: () => command('status', '--all'),
    async end() {
      await host.end('SIGTERM');
      await place.remove();
    },
  };
};

const beginSupervisord: Begin = async (directory, programs) => {
  const supervisord = await programOf(['supervisord'], ['supervisor']);
  const socket = path.join(directory, 'socket');
  const file = path.join(directory, 'supervisord.conf');
  // supervisord splits a command as a shell does, and expands %.
  const word = (text: string) => `'${text.replaceAll("'", `'"'"'`).replaceAll('%', '%%')}'`;
  const sections = programs.map(
    ({ name, command, logFile }) => `[program:${name}]
command=${command.map(word).join(' ')}
autostart=false
autorestart=true
startsecs=0
startretries=1000
redirect_stderr=true
stdout_logfile=${logFile}
stdout_logfile_maxbytes=0
`,
  );
  const text = `[supervisord]
nodaemon=true
silent=true
user=root
logfile=/dev/null
logfile_maxbytes=0
pidfile=${directory}/pid
[unix_http_server]
file=${socket}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://${socket}
${sections.join('')}`;
  await writeFile(file, text);
  const child = spawn(supervisord, ['--configuration', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  const command = (...args: string[]) => run(['supervisorctl', '--configuration', file, ...args]);
  await until(() => command('pid').then(() => true));
  return {
    name: 'supervisord',
    pid: child.pid ?? 0,
    start: names => command('start', ...names),
    stop: names => command('stop', ...names),
    // The exit code is 3 when a program does not run.
    list: () => command('status').catch(() => undefined),
    async end() {
      child.kill('SIGTERM');
      await exited;
    },
  };
};

const beginPm2: Begin = async (directory, programs) => {
  const place = path.join(directory, 'package');
  await mkdir(place);
  await run(['npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix', place, `pm2@${PM2_VERSION}`]);
  const home = path.join(directory, 'home');
  const env = { ...process.env, PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: 'true' };
  const main = path.join(place, 'node_modules/pm2/bin/pm2');
  const command = (...args: string[]) => run([process.execPath, main, '--silent', ...args], env);
  const file = path.join(directory, 'programs.json');
  const apps = programs.map(({ name, command: [script, ...args], logFile }) => ({
    name,
    script,
    args,
    interpreter: 'none',
    merge_logs: true,
    out_file: logFile,
    error_file: logFile,
  }));
  await writeFile(file, JSON.stringify({ apps }));
  await command('ping');
  return {
    name: 'pm2',
    pid: Number(await readFile(path.join(home, 'pm2.pid'), 'utf8')),
    start: names => command('start', file, '--only', names.join(',')),
    stop: names => command('stop', ...names),
    list: () => command('jlist'),
    end: () => command('kill'),
  };
};

/** Stackwarden comes first. */
export const RIVALS: readonly Begin[] = [beginStackwarden, beginSupervisord, beginPm2];

/** A directory in which programs of any user may write, and which is removed afterwards. */
export async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-rivals-'));
  try {
    await chmod(directory, 0o777);
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
