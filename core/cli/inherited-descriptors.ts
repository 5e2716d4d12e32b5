// Closes what the parent left open in this process: programs started later would inherit it, and hold it open for good.
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/** For the start of the process. Everything that the runtime opened itself is marked as not to be inherited. */
export function closeInheritedDescriptors(): void {
  for (const descriptor of openDescriptors()) {
    if (descriptor > 2 && !isClosedOnExec(descriptor)) closeSync(descriptor);
  }
}

/** None where there is no `/proc`. */
function openDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

/** The descriptor that listed the directory is gone again by now; it counts as marked. */
function isClosedOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    return true;
  }
}
