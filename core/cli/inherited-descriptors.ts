// Closes file descriptors that the parent process left open, because programs started later would inherit and keep
// them.
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/** Called at the start of the process. Descriptors that Node itself opened are close-on-exec and stay open. */
export function closeInheritedDescriptors(): void {
  for (const descriptor of openDescriptors()) {
    if (descriptor > 2 && !isClosedOnExec(descriptor)) closeSync(descriptor);
  }
}

/** The open descriptors; empty on a system without `/proc`. */
function openDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

/** The descriptor used to list the directory is closed by now; it counts as close-on-exec. */
function isClosedOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    return true;
  }
}
