// Checks users against the user namespace of the host: in a rootless container only some users of the machine exist,
// and the kernel runs nothing as another one.
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
