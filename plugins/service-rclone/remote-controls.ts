// The remote control of each rclone process, by flags that are read from its command line or added to it. Source:
// rclone.org/rc.
import { readFile } from 'node:fs/promises';
import type { Host } from '#core';
import { portInUse } from '#kit/port-in-use';
import type {} from '../process/contract.ts';
import type { MountControl } from '../services/mount-control.ts';

const DEFAULT_ADDRESS = 'localhost:5572';
const FIRST_PORT = 5_572;
const LAST_PORT = 65_535;

export class RemoteControls {
  readonly #host: Host;
  /** Assigned ports by process, so that two processes that start at once do not get the same one. */
  readonly #ports = new Map<string, number>();

  constructor(host: Host) {
    this.#host = host;
  }

  /**
   * Read from the running process's command line, because an earlier host or a user's own command may have started it.
   * undefined when the remote control cannot be used.
   */
  async of(processName: string): Promise<MountControl | undefined> {
    const pid = this.#host.find('process.supervisor')?.get(processName)?.pid;
    if (pid == null) return undefined;
    const [words = '', variables = ''] = await Promise.all(
      ['cmdline', 'environ'].map(name => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
    );
    const isSetElsewhere = variables.split('\0').some(variable => variable.startsWith('RCLONE_RC'));
    return isSetElsewhere ? undefined : remoteControlOf(words.split('\0'));
  }

  /**
   * Flags that switch the remote control on, without credentials, since it is reachable from this machine only. Empty
   * when the command has such flags already.
   */
  async flagsFor(processName: string, argv: readonly string[]): Promise<string[]> {
    const has = (name: string): boolean => flagOf(argv, name) !== undefined;
    if (has('--rc') || has('--rc-addr')) return [];
    const isGuarded = ['--rc-user', '--rc-pass', '--rc-htpasswd'].some(has);
    const port = await this.#freePort(processName);
    return ['--rc', `--rc-addr=127.0.0.1:${port}`, ...(isGuarded ? [] : ['--rc-no-auth'])];
  }

  async #freePort(processName: string): Promise<number> {
    this.#ports.delete(processName);
    const blocks = this.#host.use('config.store').blocks();
    const configured = new Set(blocks.flatMap(({ block }) => Object.values(block)));
    for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) {
      const isTaken = (): boolean => configured.has(port) || [...this.#ports.values()].includes(port);
      if (isTaken() || (await portInUse(port)) || isTaken()) continue;
      this.#ports.set(processName, port);
      return port;
    }
    throw new Error('no port is free for the remote control of rclone');
  }
}

/** undefined when the remote control is off, not on loopback, or needs more than a user name and a password. */
export function remoteControlOf(argv: readonly string[]): MountControl | undefined {
  if (!['', 'true'].includes(flagOf(argv, '--rc') ?? 'false')) return undefined;
  const address = flagOf(argv, '--rc-addr') ?? DEFAULT_ADDRESS;
  const [, port] = /^(?:localhost|127\.0\.0\.1):(\d+)$/.exec(address) ?? [];
  const isGuarded = ['--rc-htpasswd', '--rc-baseurl', '--rc-cert'].some(name => flagOf(argv, name) !== undefined);
  if (port === undefined || isGuarded) return undefined;
  return { port: Number(port), user: flagOf(argv, '--rc-user') ?? '', password: flagOf(argv, '--rc-pass') ?? '' };
}

/** The value of `--name=value` or `--name value`; empty for a switch, undefined when absent. */
function flagOf(argv: readonly string[], name: string): string | undefined {
  const index = argv.findLastIndex(word => word === name || word.startsWith(`${name}=`));
  if (index < 0) return undefined;
  const word = argv[index] ?? '';
  if (word.length > name.length) return word.slice(name.length + 1);
  const next = argv[index + 1];
  return name === '--rc' || next === undefined || next.startsWith('-') ? '' : next;
}
