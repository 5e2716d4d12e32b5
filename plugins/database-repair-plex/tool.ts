// Runs the repair tool once, as the user of the services, with its output in a log of its own.
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Host, NamedBlock } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import { formatRecord } from '#kit/log-line';
import { publicEnvironment } from '#kit/public-environment';
import { redact } from '#kit/redact';
import { RotatingFile } from '#kit/rotating-file';
import { logFileOf } from '#kit/service-log';
import type { RepairSettings } from './settings.ts';

/** What its lines are called in logs; clients parse them under this name. */
export const TOOL = 'Plex DBRepair';
const SOURCE = 'https://github.com/ChuckPa/DBRepair';
const KILL_AFTER_MS = 10_000;
const MAX_LINE = 16_384;

/** Why it cannot be run, with what to do; undefined when it can. */
export async function obstacleOf({ command: [program = ''], workDir }: RepairSettings): Promise<string | undefined> {
  if (!path.isAbsolute(program)) return `dbrepair.command must begin with an absolute path, not ${program}`;
  if ((await fileVersion(program)) === null)
    return `${program} is not installed; get it from ${SOURCE}, or set dbrepair.enabled to false`;
  if ((await fileVersion(workDir)) === null) return `dbrepair.work_dir ${workDir} does not exist; create it`;
  return undefined;
}

/** Ends what it has started in any case. Throws an Error with its last line when it fails or is aborted. */
export async function runTool(host: Host, named: NamedBlock, settings: RepairSettings, signal: AbortSignal) {
  const { puid, pgid } = host.use('config.store').root();
  const user = process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
  const file = logPlace(host, named, settings);
  const log = new RotatingFile({
    file,
    rotation: () => host.use('log.hub').rotation(),
    owner: user,
    warn: (message, error) => host.log.warn(message, error),
  });
  const [program = '', ...args] = settings.command;
  const child = spawn(program, args, {
    ...user,
    cwd: settings.workDir,
    env: { ...publicEnvironment(process.env), ...settings.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // Nothing of it is left.
    }
  };
  let limit: NodeJS.Timeout | undefined;
  const abort = (): void => {
    end('SIGTERM');
    limit = setTimeout(() => end('SIGKILL'), KILL_AFTER_MS);
  };
  signal.addEventListener('abort', abort, { once: true });
  let last = '';
  let writing = Promise.resolve();
  const write = (line: string): void => {
    const text = redact(line.slice(0, MAX_LINE)).trimEnd();
    if (text === '') return;
    last = text;
    const record = formatRecord({ at: Date.now(), level: 'INFO', text, processName: TOOL });
    const data = Buffer.from(`${record}\n`);
    writing = writing.then(async () => {
      if (await log.prepare(data.length)) await log.append(data);
    });
  };
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split(/\r?\n/);
      rest = (lines.pop() ?? '').slice(0, MAX_LINE);
      for (const line of lines) write(line);
    });
    stream.on('end', () => write(rest));
  }
  try {
    await new Promise<void>((resolve, reject) => {
      child.on('error', reject);
      // What it left behind would hold its output open.
      child.on('exit', () => end('SIGKILL'));
      child.on('close', code => {
        if (code === 0 && !signal.aborted) resolve();
        else reject(new Error(signal.aborted ? 'it was ended' : last || `it ended with ${code}`));
      });
    });
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', abort);
    await writing;
    await log.close();
  }
}

/** Below the log directory, or where the template says. */
function logPlace(host: Host, { configKey, key }: NamedBlock, { logFile }: RepairSettings): string {
  const file = logFileOf(logFile, host.paths.logDir) ?? path.join(host.paths.logDir, 'plex_dbrepair.log');
  const templates = host.find('service.templates');
  const template = templates?.get(configKey);
  const usual = template === undefined ? undefined : templates?.block(template, key).dbrepair;
  const isUsual = (usual as { log_file?: unknown } | undefined)?.log_file === file;
  if (isUsual || file.startsWith(`${host.paths.logDir}/`)) return file;
  throw new Error(`dbrepair.log_file ${file} lies outside of the log directory ${host.paths.logDir}; choose one in it`);
}
