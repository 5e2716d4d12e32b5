// Waits before a start for other services, directories, mounts, TCP ports and URLs, in this order. Can be cancelled at
// any time, and never blocks on a dead mount.
import { setTimeout as delay } from 'node:timers/promises';
import { type FetchOptions, type Host, type Logger, type NamedBlock, Problem } from '#core';
import { follow, orAborted } from '#kit/abort';
import { acceptsTcp } from '#kit/accepts-tcp';
import { fileVersion } from '#kit/fs-out-of-process';
import { listedPath, readMounts } from '#kit/mountinfo';
import { percentDecoded } from '#kit/percent-decoded';
import type { LaunchPlan, ProcessSnapshot, TcpAddress } from '../contract.ts';
import { blocksNamed, type Condition, checkDependencies, dependenciesOf, isFulfilled } from './depends-on.ts';

const SLOW_POLL = { firstMs: 2_000, maxMs: 30_000 };
const URL_POLL = { firstMs: 5_000, maxMs: 60_000 };
/** Short, because only known snapshots are looked at. */
const PROCESS_POLL = { firstMs: 50, maxMs: 1_000 };
const DEFAULT_LIMIT_S = 600;
const LOG_EVERY_MS = 60_000;
const STAT_LIMIT_MS = 5_000;
/** What the last look before the end of a limit may take beyond it. */
const LAST_LOOK_MS = 2_000;

/** What a wait for other processes needs to know. */
export interface Processes {
  blocks(): readonly NamedBlock[];
  snapshot(processName: string): ProcessSnapshot | undefined;
  isReady(process: ProcessSnapshot): Promise<boolean>;
  /** Why the process is as healthy as it is; null when there is nothing to say. */
  reasonOf(process: ProcessSnapshot): string | null;
}

export interface WaitContext extends Processes {
  readonly log: Logger;
  readonly fetch: Host['fetch'];
  /** Called with what is missing, and with null when it is there. */
  readonly onWaiting: (what: string | null) => void;
}

interface Wait {
  readonly what: string;
  readonly limitMs: number;
  readonly poll: { readonly firstMs: number; readonly maxMs: number };
  /** `withinMs` is how long a look may take. */
  ready(signal: AbortSignal, withinMs: number): Promise<boolean>;
  /** What is known of it at the end of the limit, as a sentence. */
  state?(): string;
}

export function portsWaitedFor(block: Readonly<Record<string, unknown>>): TcpAddress[] {
  return listOf(block.wait_for_tcp) as TcpAddress[];
}

/** Throws a Problem 400 for a URL that cannot be requested, because it is incomplete or neither HTTP nor HTTPS. */
export function checkWaits(processName: string, block: Readonly<Record<string, unknown>>): void {
  const urls = listOf(block.wait_for_url).map(entry => textOf(entry, 'url'));
  if (urls.every(url => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) return;
  const remedy = 'write it in full, for example http://127.0.0.1:8080/health';
  throw new Problem(400, `${processName} cannot start: wait_for_url holds an address that cannot be asked; ${remedy}`);
}

/**
 * Rejects with the Problems of `checkWaits`, with a Problem 500 when something does not become available in time, and
 * with the signal's reason when cancelled.
 */
export async function waitForDependencies(plan: LaunchPlan, context: WaitContext): Promise<void> {
  checkWaits(plan.processName, plan.block);
  const own = ownBlock(plan, context);
  if (own !== undefined) checkDependencies(own, context.blocks());
  for (const wait of waitsOf(plan, context)) await waitFor(wait, plan, context);
}

/** Whether a start waits for anything. The program may come with that, such as with a mount. */
export function hasWaits(plan: LaunchPlan, context: WaitContext): boolean {
  return waitsOf(plan, context).length > 0;
}

/** Whether something that a start waits for is not there now. */
export async function isWaiting(plan: LaunchPlan, context: WaitContext): Promise<boolean> {
  for (const wait of waitsOf(plan, context)) if (!(await looked(wait, plan.signal, wait.limitMs))) return true;
  return false;
}

function ownBlock(plan: LaunchPlan, context: WaitContext): NamedBlock | undefined {
  return context.blocks().find(({ processName }) => processName === plan.processName);
}

function waitsOf(plan: LaunchPlan, context: WaitContext): Wait[] {
  const { block, trigger, waits: extra } = plan;
  const own = ownBlock(plan, context);
  const limit = typeof block.wait_timeout_seconds === 'number' ? block.wait_timeout_seconds * 1_000 : undefined;
  // At boot, directories and mounts are waited for without a limit.
  const patient = limit ?? (trigger === 'boot' ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT_S * 1_000);
  const bounded = limit ?? DEFAULT_LIMIT_S * 1_000;
  return [
    ...(own === undefined ? [] : dependenciesOf(own)).flatMap(({ name, condition }) =>
      blocksNamed(name, context.blocks()).map(({ processName }) =>
        processWait(processName, condition, bounded, context),
      ),
    ),
    ...listOf(block.wait_for_dir).map(entry => directoryWait(textOf(entry, 'path'), patient)),
    ...[...listOf(block.wait_for_mounts), ...extra.mounts].map(entry => mountWait(textOf(entry, 'path'), patient)),
    ...extra.tcp.map(entry => tcpWait(entry, bounded)),
    ...[...listOf(block.wait_for_url), ...extra.urls].map(entry =>
      urlWait(typeof entry === 'string' ? { url: entry } : (entry as UrlEntry), bounded, context),
    ),
  ];
}

function looked(wait: Wait, signal: AbortSignal, leftMs: number): Promise<boolean> {
  return wait.ready(signal, Math.max(leftMs, LAST_LOOK_MS)).catch(() => false);
}

async function waitFor(
  wait: Wait,
  { processName, signal }: LaunchPlan,
  { log, onWaiting }: WaitContext,
): Promise<void> {
  const startedMs = performance.now();
  let loggedMs = Number.NEGATIVE_INFINITY;
  let pauseMs = wait.poll.firstMs;
  try {
    while (!(await looked(wait, signal, startedMs + wait.limitMs - performance.now()))) {
      signal.throwIfAborted();
      onWaiting(wait.what);
      const waitedMs = performance.now() - startedMs;
      if (waitedMs >= wait.limitMs) {
        const seconds = Math.round(wait.limitMs / 1_000);
        const state = wait.state === undefined ? '' : `; ${wait.state()}`;
        throw new Problem(
          500,
          `${processName} was not started: ${wait.what} did not become available within ${seconds} s${state}`,
        );
      }
      if (performance.now() - loggedMs >= LOG_EVERY_MS) {
        log.info(`${processName} waits for ${wait.what}`);
        loggedMs = performance.now();
      }
      await delay(Math.min(pauseMs, Math.max(wait.limitMs - waitedMs, 1)), undefined, { signal });
      pauseMs = Math.min(pauseMs * 1.5, wait.poll.maxMs);
    }
  } finally {
    onWaiting(null);
  }
  signal.throwIfAborted();
}

function processWait(name: string, condition: Condition, limitMs: number, processes: Processes): Wait {
  const { snapshot, isReady } = processes;
  return {
    what: `service ${name} (${condition})`,
    limitMs,
    poll: PROCESS_POLL,
    ready: () => isFulfilled(condition, snapshot(name), isReady),
    state: () => stateOf(name, processes),
  };
}

function stateOf(name: string, { snapshot, reasonOf }: Processes): string {
  const process = snapshot(name);
  if (process === undefined) return `${name} is gone from the configuration`;
  const { status, lastFailureReason, lastExit } = process;
  const reason = status === 'stopped' ? (lastFailureReason ?? lastExit?.reason ?? null) : reasonOf(process);
  return `${name} is ${status}${reason === null ? '' : ` (${reason})`}`;
}

/** A mount that does not answer counts as a directory that is not there. */
function directoryWait(directory: string, limitMs: number): Wait {
  return {
    what: `directory ${directory}`,
    limitMs,
    poll: SLOW_POLL,
    ready: async signal => (await orAborted(() => fileVersion(directory, STAT_LIMIT_MS), signal)) !== null,
  };
}

/** Reads the mount table, so that the path itself is never touched. */
function mountWait(mountPoint: string, limitMs: number): Wait {
  const wanted = listedPath(mountPoint);
  return {
    what: `mount ${mountPoint}`,
    limitMs,
    poll: SLOW_POLL,
    ready: async () => (await readMounts()).some(({ directory }) => directory === wanted),
  };
}

function tcpWait({ name, host = '127.0.0.1', port, timeout = 2 }: TcpAddress, limitMs: number): Wait {
  return {
    what: name ?? `${host}:${port}`,
    limitMs,
    poll: SLOW_POLL,
    ready: (signal, withinMs) => acceptsTcp(host, port, Math.min(timeout * 1_000, withinMs), signal),
  };
}

interface UrlEntry {
  readonly url: string;
  readonly auth?: { readonly user: string; readonly password: string };
  readonly probe_method?: string;
  readonly probe_headers?: Record<string, string>;
  readonly timeout?: number;
  readonly expected_json_path?: string;
}

function urlWait(entry: UrlEntry, limitMs: number, { fetch }: WaitContext): Wait {
  const { url, timeout = 10, expected_json_path: jsonPath } = entry;
  const webDav = /\/(webdav|dav)(\/|$)/.test(pathOf(url));
  // Servers take a method in small letters for another one, or refuse it.
  const method = entry.probe_method?.toUpperCase() ?? (webDav ? 'PROPFIND' : 'GET');
  const auth = entry.auth ?? credentialsIn(url);
  const credentials =
    auth === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(`${auth.user}:${auth.password}`).toString('base64')}` };
  const headers = { ...credentials, ...(method === 'PROPFIND' ? { depth: '0' } : {}), ...entry.probe_headers };
  return {
    what: withoutCredentials(url),
    limitMs,
    poll: URL_POLL,
    ready: async (signal, withinMs) => {
      const options = { method, headers, timeoutMs: Math.min(timeout * 1_000, withinMs), signal };
      if (jsonPath === undefined) return isSuccess(await statusOf(url, options, fetch));
      const answer = await fetch(url, options);
      return isSuccess(answer.status) && hasPath(answer.json(), jsonPath.split('.'));
    },
  };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Leaves the body unread, which may be large, or a stream that never ends. */
async function statusOf(
  url: string,
  { signal, ...options }: FetchOptions & { readonly signal: AbortSignal },
  fetch: Host['fetch'],
): Promise<number> {
  const ended = new AbortController();
  const stopFollowing = follow(ended, [signal]);
  try {
    const { status } = await fetch(url, { ...options, signal: ended.signal, stream: true });
    return status;
  } finally {
    stopFollowing();
    ended.abort();
  }
}

function hasPath(value: unknown, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (key === undefined) return value !== undefined;
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, key) &&
    hasPath((value as Record<string, unknown>)[key], rest)
  );
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : '';
}

function credentialsIn(url: string): UrlEntry['auth'] {
  if (!URL.canParse(url)) return undefined;
  const { username, password } = new URL(url);
  if (username === '' && password === '') return undefined;
  return { user: percentDecoded(username), password: percentDecoded(password) };
}

function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return 'an address that cannot be read';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null || value === '') return [];
  return Array.isArray(value) ? value : [value];
}

function textOf(entry: unknown, key: string): string {
  return typeof entry === 'string' ? entry : String((entry as Record<string, unknown> | null)?.[key] ?? '');
}
