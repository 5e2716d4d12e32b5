// The user that a service runs as: the one that its block names, otherwise the one of all services. A name never stands
// for root, whose rights no configuration gives away.
import { readFileSync } from 'node:fs';
import { type Host, type NamedBlock, Problem } from '#core';
import { blockUser } from '#kit/block-user';
import type {} from '../../services/contract.ts';
import type { LaunchPlan } from '../contract.ts';

type RunUser = NonNullable<LaunchPlan['user']>;

/** The largest id of a user or a group that a program can be launched as. */
const MAX_ID = 2_147_483_647;

export class RunUsers {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /**
   * null when the process keeps the host's own user. Throws a Problem when the block names a user that does not exist,
   * is root, or cannot be taken on.
   */
  of(named: NamedBlock, asController = false): RunUser | null {
    const name = this.nameIn(named.configKey, named.block);
    if (name === undefined) return asController ? null : this.#usual();
    const found = userNamed(name, Number(this.#host.use('config.store').root().pgid), named.processName);
    if (isRoot()) return found;
    if (found.uid === process.getuid?.()) return null;
    throw new Problem(
      400,
      `${named.processName} cannot start as user ${name}, because Stackwarden does not run as root; start it as root, or ` +
        'remove the key user',
    );
  }

  /** See `ProcessSupervisor.userOf`. */
  ofFiles(named: NamedBlock): RunUser | null {
    try {
      return this.of(named);
    } catch (error) {
      if (error instanceof Problem) return this.#usual();
      throw error;
    }
  }

  /** The user of all services. */
  #usual(): RunUser | null {
    const { puid, pgid } = this.#host.use('config.store').root();
    return isRoot() ? { uid: Number(puid), gid: Number(pgid) } : null;
  }

  /**
   * The user that the block names; undefined when it names none, or when `user` means something else for its kind of
   * service.
   */
  nameIn(configKey: string, block: Readonly<Record<string, unknown>>): string | undefined {
    const templates = this.#host.find('service.templates');
    const template = templates?.get(configKey);
    return blockUser(block, template && templates?.block(template));
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** `name`, `uid`, and either with `:group`. */
function userNamed(text: string, serviceGid: number, processName: string): RunUser {
  const [name = '', group] = text.split(':');
  const account = table('/etc/passwd').find(([entry, , id]) => entry === name || id === name);
  const uid = account === undefined ? idIn(name) : Number(account[2]);
  const refuse = (what: string): Problem => new Problem(400, `${processName} cannot start as user ${text}: ${what}`);
  if (uid === undefined) throw refuse(`there is no user '${name}'; correct the key user`);
  const own = account === undefined ? serviceGid : Number(account[3]);
  const groups = table('/etc/group');
  const gid = group === undefined ? own : gidNamed(group, groups);
  if (gid === undefined) throw refuse(`there is no group '${group}'; correct the key user`);
  if (uid === 0 || gid === 0) throw refuse('no service is started as root; name another user');
  const members = groups.find(([, , id]) => Number(id) === gid)?.[3]?.split(',') ?? [];
  if (gid !== own && gid !== serviceGid && !members.includes(account?.[0] ?? ''))
    throw refuse(`group ${group} is none of this user; add the user to it, or name another group`);
  return { uid, gid };
}

function gidNamed(group: string, groups: readonly string[][]): number | undefined {
  const entry = groups.find(([name, , id]) => name === group || id === group);
  return entry === undefined ? idIn(group) : Number(entry[2]);
}

function idIn(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= MAX_ID ? Number(text) : undefined;
}

/**
 * The fields of each line. Lines without a name, such as the end of the file, are left out, because an empty name in a
 * block would match them.
 */
function table(file: string): string[][] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map(line => line.split(':'))
    .filter(([name]) => name !== '');
}
