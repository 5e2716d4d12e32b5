// Checks for updates: for each process at most once a minute unless forced, and never within the pause that its server
// has asked for. A check that fails does not change what is known.
import { type Host, type NamedBlock, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { redact } from '#kit/redact';
import type {} from '../installs/contract.ts';
import type {} from './contract.ts';
import { presentVersion } from './present-version.ts';
import { blockedBy, blockedMessage, isUpdate } from './selection.ts';
import type { UpdateRecords } from './update-records.ts';
import { lasting, notesOf, unixNow } from './update-result.ts';

const PAUSE_MS = 60_000;
/** Longer than a source may take, which gives up by itself. */
const LIMIT_MS = 45_000;
const TOLD_S = 24 * 3_600;
const MS_PER_S = 1_000;

/** The last check of one process, with monotonic times in milliseconds. */
interface Look {
  readonly atMs: number;
  /** The end of the pause that the server has asked for; a forced check waits for it as well. */
  readonly closedUntilMs: number;
  readonly failure: string | null;
}

export class UpdateChecks {
  readonly #host: Host;
  readonly #records: UpdateRecords;
  readonly #running = new Map<string, Promise<string | null>>();
  readonly #looks = new Map<string, Look>();

  constructor(host: Host, records: UpdateRecords) {
    this.#host = host;
    this.#records = records;
  }

  /** Resolves with why the check failed, or null; within the pause, and within a minute unless forced, as before. */
  check({ processName }: NamedBlock, { force }: { readonly force: boolean }): Promise<string | null> {
    const running = this.#running.get(processName);
    if (running !== undefined) return running;
    const last = this.#looks.get(processName);
    const nowMs = performance.now();
    const isClosed = last !== undefined && nowMs < last.closedUntilMs;
    if (last !== undefined && (isClosed || (!force && nowMs < last.atMs + PAUSE_MS)))
      return Promise.resolve(last.failure);
    const look = this.#look(processName).finally(() => this.#running.delete(processName));
    this.#running.set(processName, look);
    return look;
  }

  async #look(processName: string): Promise<string | null> {
    const atMs = performance.now();
    try {
      await this.#find(processName);
      this.#looks.set(processName, { atMs, closedUntilMs: atMs, failure: null });
      return null;
    } catch (error) {
      if (this.#host.signal.aborted) throw error;
      const failure = redact(errorText(error));
      this.#looks.set(processName, { atMs, closedUntilMs: performance.now() + pauseOf(error), failure });
      await this.#fail(processName, failure);
      return failure;
    }
  }

  async #find(processName: string): Promise<void> {
    const installs = this.#host.use('installs');
    const selector = installs.selector(processName);
    const current = await presentVersion(this.#host, processName);
    const known = this.#records.result(processName);
    const base = {
      ...lasting(known),
      checked_at: unixNow(),
      ...(current === null ? {} : { current_version: current }),
    };
    const reason = blockedBy(selector);
    if (reason !== null) {
      const message = blockedMessage(processName, installs.settingOf(selector) ?? reason);
      return this.#records.setResult(processName, { ...base, status: 'blocked', reason, message });
    }
    const signal = AbortSignal.any([this.#host.signal, AbortSignal.timeout(LIMIT_MS)]);
    const release = await installs.latest(processName, { signal });
    if (!isUpdate(selector, release.version, current)) {
      const message = `${current} is installed, and nothing newer is published`;
      return this.#records.setResult(processName, { ...base, ...notesOf(release), status: 'no_update', message });
    }
    const message = `${release.version} is published${current === null ? '' : `; ${current} is installed`}`;
    await this.#records.setResult(processName, {
      ...base,
      ...notesOf(release),
      status: 'update_available',
      message,
      available_version: release.version,
    });
    if (known?.available_version !== release.version)
      this.#host.emit('update.available', {
        processName,
        currentVersion: current,
        availableVersion: release.version,
        releaseUrl: release.notesUrl,
      });
  }

  async #fail(processName: string, reason: string): Promise<void> {
    const known = this.#records.result(processName);
    const at = unixNow();
    const told = known?.told_failure;
    // The absolute difference, because a time in the future was noted while the clock was ahead.
    const isToldAgain = told?.reason !== reason || Math.abs(at - told.at) >= TOLD_S;
    await this.#records.setResult(processName, {
      ...(known ?? { status: 'error', message: reason }),
      ...(known?.status === 'error' && known.reason === undefined ? { message: reason } : {}),
      last_check_error: reason,
      last_check_failed_at: at,
      told_failure: isToldAgain ? { reason, at } : told,
    });
    if (!isToldAgain) return;
    this.#host.log.warn(`updates of ${processName} cannot be looked for: ${reason}`);
    this.#host.emit('update.failed', { processName, operation: 'check', reason });
  }
}

/** The pause that a server asks for, in milliseconds. */
function pauseOf(error: unknown): number {
  if (!(error instanceof Problem)) return 0;
  const [, given] = Object.entries(error.headers).find(([name]) => name.toLowerCase() === 'retry-after') ?? [];
  const seconds = Number(given);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * MS_PER_S : 0;
}
