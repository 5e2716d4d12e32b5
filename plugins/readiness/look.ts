// One look at a service: whether it answers, accepts a connection, or its command succeeds; otherwise why not.
import { spawn } from 'node:child_process';
import type { Host } from '#core';
import { acceptsTcp } from '#kit/accepts-tcp';
import { clientHost, urlHost } from '#kit/client-host';
import { lacksDescriptors } from '#kit/descriptors';
import { errorText } from '#kit/error-text';
import { lacksProcesses } from '#kit/process-limit';
import type { LaunchPlan } from '../process/contract.ts';
import type { LivenessKey } from './settings.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_TEXT = 200;

export interface LookAt {
  readonly host: Host;
  readonly block: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** The plan with which the service was launched. */
  plan(): LaunchPlan | undefined;
}

/**
 * null when all is well, else the reason in one line. Never takes much longer than the timeout. Rejects when no
 * descriptor or process was left for the look, because that tells nothing about the service.
 */
export async function look({ http, tcp, exec }: LivenessKey, at: LookAt): Promise<string | null> {
  if (http !== undefined) return answers(http.path, http.port ?? at.block.port, at);
  if (tcp !== undefined) return accepts(tcp.port ?? at.block.port, at);
  return succeeds(exec ?? [], at);
}

async function answers(path: string, port: unknown, { host, block, timeoutMs }: LookAt): Promise<string | null> {
  if (typeof port !== 'number') return 'its http names no port, and neither does its block';
  try {
    const url = `http://${urlHost(clientHost(block.host))}:${port}${path}`;
    const { status } = await host.fetch(url, { timeoutMs, redirects: 0, maxBytes: MAX_BODY_BYTES, keepAlive: false });
    return status < 400 ? null : `${path} answers ${status}`;
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    return `${path} does not answer: ${errorText(error).slice(0, MAX_TEXT)}`;
  }
}

async function accepts(port: unknown, { block, timeoutMs }: LookAt): Promise<string | null> {
  if (typeof port !== 'number') return 'its tcp names no port, and neither does its block';
  return (await acceptsTcp(clientHost(block.host), port, timeoutMs)) ? null : `port ${port} accepts no connection`;
}

/** The command gets the environment and the directory of the service, and never more rights than services have. */
function succeeds(exec: string | readonly string[], { host, timeoutMs, plan }: LookAt): Promise<string | null> {
  const [program = '', ...args] = typeof exec === 'string' ? ['sh', '-c', exec] : exec;
  const { env = {}, cwd = '/', user = null } = plan() ?? {};
  const { puid, pgid } = host.use('config.store').root();
  const as = process.getuid?.() === 0 ? (user ?? { uid: Number(puid), gid: Number(pgid) }) : {};
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...as, env, cwd, stdio: 'ignore', detached: true });
    const timer = setTimeout(() => {
      if (child.pid !== undefined) end(child.pid);
      child.unref();
      resolve(`its command took longer than ${timeoutMs / 1_000} s`);
    }, timeoutMs);
    child.once('error', error => {
      clearTimeout(timer);
      if (lacksDescriptors(error) || lacksProcesses(error)) reject(error);
      resolve(`its command cannot be run: ${errorText(error).slice(0, MAX_TEXT)}`);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      resolve(code === 0 ? null : `its command ended with ${signal ?? `exit code ${code}`}`);
    });
  });
}

/** Kills the command with everything that it has started. */
function end(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The command has ended meanwhile.
  }
}
