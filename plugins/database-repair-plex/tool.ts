// Runs the repair tool once, as the user of the service, with its output in a log of its own.
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Host, NamedBlock } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import { marks } from '#kit/left-over';
import { publicEnvironment } from '#kit/public-environment';
import { logFileOf } from '#kit/service-log';
import type { RepairSettings } from './settings.ts';
import { ToolLog } from './tool-log.ts';

const SOURCE = 'https://github.com/ChuckPa/DBRepair';
const KILL_AFTER_MS = 10_000;
/** How long the remaining output of a tool that has ended is read. */
const DRAIN_MS = 2_000;

/** Why the tool cannot be run, and what to do about it; undefined when it can. */
export async function obstacleOf({ command: [program = ''], workDir }: RepairSettings): Promise<string | undefined> {
  if (!path.isAbsolute(program)) return `dbrepair.command must begin with an absolute path, not ${program}`;
  if ((await fileVersion(program)) === null)
    return `${program} is not installed; get it from ${SOURCE}, or set dbrepair.enabled to false`;
  if ((await fileVersion(workDir)) === null) return `dbrepair.work_dir ${workDir} does not exist; create it`;
  return undefined;
}

/** The mark by which this host recognizes its tools for the database of a process. */
export function repairedBy({ paths }: Host, processName: string): string {
  return `repair ${paths.configDir}/${processName}`;
}

/**
 * Runs the tool and leaves none of its processes behind. Throws an Error with the tool's last line when it fails, or
 * one that says so when it was killed or aborted.
 */
export async function runTool(host: Host, named: NamedBlock, settings: RepairSettings, signal: AbortSignal) {
  signal.throwIfAborted();
  const user = host.use('process.supervisor').userOf(named);
  const log = new ToolLog({
    file: logPlace(host, named, settings),
    rotation: () => host.use('log.hub').rotation(),
    owner: user,
    warn: (message, error) => host.log.warn(message, error),
  });
  const [program = '', ...args] = settings.command;
  const child = spawn(program, args, {
    ...user,
    cwd: settings.workDir,
    env: { ...publicEnvironment(process.env), ...settings.env, ...marks(repairedBy(host, named.processName)) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A child that could not be spawned for lack of file descriptors has no streams.
  const outputs = [child.stdout, child.stderr].filter(Boolean);
  const cutOff = (): void => {
    for (const output of outputs) output.destroy();
  };
  const end = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // No process of the group is left.
    }
  };
  let limit: NodeJS.Timeout | undefined;
  const abort = (): void => {
    end('SIGTERM');
    limit = setTimeout(() => end('SIGKILL'), KILL_AFTER_MS);
  };
  signal.addEventListener('abort', abort, { once: true });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(limit);
      end('SIGKILL');
      // A process that the tool left behind in another group would keep its output open.
      limit = setTimeout(cutOff, host.paced(DRAIN_MS));
    });
    child.on('close', (code, killedBy) => resolve(code ?? killedBy));
  });
  const recorded = Promise.allSettled(outputs.map(output => log.record(output)));
  try {
    const how = await ended;
    await recorded;
    if (signal.aborted) throw new Error('it was ended');
    // The last line that a killed tool wrote does not say why it ended.
    if (typeof how === 'string') throw new Error(`it was killed by ${how}`);
    if (how !== 0) throw new Error(log.lastLine || `it ended with ${how}`);
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', abort);
    cutOff();
    await recorded;
    await log.close();
  }
}

/** The log file, which must be below the log directory or be that of the template. Throws an Error otherwise. */
function logPlace(host: Host, { configKey, key }: NamedBlock, { logFile }: RepairSettings): string {
  const file = logFileOf(logFile, host.paths.logDir) ?? path.join(host.paths.logDir, 'plex_dbrepair.log');
  const templates = host.find('service.templates');
  const template = templates?.get(configKey);
  const usual = template === undefined ? undefined : templates?.block(template, key).dbrepair;
  const isUsual = (usual as { log_file?: unknown } | undefined)?.log_file === file;
  if (isUsual || file.startsWith(`${host.paths.logDir}/`)) return file;
  throw new Error(`dbrepair.log_file ${file} lies outside of the log directory ${host.paths.logDir}; choose one in it`);
}
