// Checks users against the user namespace and the capabilities of the host: in a rootless container only some users of
// the machine exist, and a root without capabilities runs nothing as another user.
import { Problem } from '#core';
import { kernelText } from '#kit/kernel-text';
import type { LaunchPlan } from '../contract.ts';

/**
 * Throws a Problem 400 that says what to do when the process is to run as a user or a group that does not exist here.
 */
export function checkUserExists(processName: string, user: LaunchPlan['user']): void {
  if (user === null) return;
  const missing = [
    ...(isMapped('uid', user.uid) ? [] : [`user ${user.uid}`]),
    ...(isMapped('gid', user.gid) ? [] : [`group ${user.gid}`]),
  ];
  if (missing.length === 0) return;
  throw new Problem(
    400,
    `${processName} was not started: it is to run as ${missing.join(' and ')}, which this container (user namespace) does ` +
      'not have. Set puid and pgid, or the key user, to ids that it has; give it more by /etc/subuid and /etc/subgid; or ' +
      'start Stackwarden as the user of the services instead of root (podman: --userns=keep-id)',
  );
}

/** Bits of capabilities(7). */
const CAP_SETGID = 1n << 6n;
const CAP_SETUID = 1n << 7n;

/** Throws a Problem 400 that says what to do when the host, as root, has lost the right to change users. */
export function checkMayChangeUser(processName: string, user: LaunchPlan['user']): void {
  if (user === null) return;
  const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(kernelText('/proc/self/status'))?.[1];
  if (held === undefined) return;
  const capabilities = BigInt(`0x${held}`);
  const missing = [
    ...(capabilities & CAP_SETUID ? [] : ['CAP_SETUID']),
    ...(capabilities & CAP_SETGID ? [] : ['CAP_SETGID']),
  ];
  if (missing.length === 0) return;
  throw new Problem(
    400,
    `${processName} was not started: it is to run as user ${user.uid} and group ${user.gid}, but Stackwarden runs as root ` +
      `without ${missing.join(' and ')}. Give it these capabilities (docker: --cap-add SETUID --cap-add SETGID), or start ` +
      'it as the user of the services instead of root',
  );
}

/** Lines of user_namespaces(7): the first id here, the first outside, and how many. */
function isMapped(kind: 'uid' | 'gid', id: number): boolean {
  const map = mapOf(kind);
  if (map === null) return true;
  return map.split('\n').some(line => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
    return id >= first && id < first + count;
  });
}

/** null where the kernel knows no user namespaces. */
function mapOf(kind: 'uid' | 'gid'): string | null {
  try {
    return kernelText(`/proc/self/${kind}_map`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}
