// The descriptors of this process as a budget: its limit, a reserve for supervision, and whether they are running out.
// An error that no descriptor is left says nothing about the thing that was looked for.
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

const RESERVE = 16;
/** Part of the reserve that is never lent. */
const FOR_SUPERVISION = 8;
/** With fewer free descriptors than this, they count as running out. */
const SCARCE = 8;
const UNLIMITED = 1_048_576;
const CODES = new Set(['EMFILE', 'ENFILE']);

const reserve: number[] = [];
let isScarce = false;

/** How many descriptors this process may have open; Node has raised the soft limit to the hard one. */
export function descriptorLimit(): number {
  const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return limit === undefined ? UNLIMITED : Number(limit);
}

/** Whether an operation failed only because no descriptor was left. */
export function lacksDescriptors(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? lacksDescriptors(error.cause) : CODES.has(code);
}

/** Whether a child has pipes to its input and from its output: a child for which no descriptors were left has none. */
export function hasPipes(child: ChildProcess): child is ChildProcessByStdio<Writable, Readable, null> {
  return (child.stdin ?? null) !== null && (child.stdout ?? null) !== null;
}

/**
 * Calls `look`, which opens one descriptor at a time and closes it again; it gets one of the reserve when no other is
 * left. Throws what `look` throws.
 */
export function withReserve<Value>(look: () => Value): Value {
  try {
    return look();
  } catch (error) {
    const spare = lacksDescriptors(error) ? reserve.pop() : undefined;
    if (spare === undefined) throw error;
    closeSync(spare);
    try {
      return look();
    } finally {
      fill(reserve.length + 1);
    }
  }
}

/**
 * Tells whether descriptors are running out, and fills the reserve. While they do, a part of the reserve is lent to
 * connections, so that a client can still ask what is wrong.
 */
export function lookAtDescriptors(): boolean {
  if (isScarce) isScarce = !hasFreeDescriptors(SCARCE + RESERVE - reserve.length);
  else isScarce = !hasFreeDescriptors(SCARCE);
  if (!isScarce) fill(RESERVE);
  else {
    fill(FOR_SUPERVISION);
    for (const descriptor of reserve.splice(FOR_SUPERVISION)) closeSync(descriptor);
  }
  return isScarce;
}

/** One sentence while descriptors are running out, for the health of the host. */
export function descriptorShortage(): string | undefined {
  if (!isScarce) return undefined;
  return `nearly all of the ${descriptorLimit()} file descriptors are in use; raise the limit (ulimit -n) or find what leaks them`;
}

/** Whether `count` more descriptors can be opened at once, without the reserve. */
export function hasFreeDescriptors(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync('/dev/null', 'r'));
    return true;
  } catch {
    return false;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function fill(count: number): void {
  try {
    while (reserve.length < count) reserve.push(openSync('/dev/null', 'r'));
  } catch {
    // The next look fills the rest.
  }
}
