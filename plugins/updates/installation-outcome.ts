// The outcome of one installation: records it for clients, and emits its event.
import type { Host } from '#core';
import { redact } from '#kit/redact';
import { utcTime } from '#kit/utc-time';
import type { AvailableRelease } from '../installs/contract.ts';
import type {} from './contract.ts';
import { foundVersion } from './present-version.ts';
import type { UpdateRecords } from './update-records.ts';
import { lasting, notesOf, type UpdateResult, unixNow } from './update-result.ts';

export interface Downtime {
  readonly install_duration_seconds?: number;
  readonly downtime_seconds?: number;
  readonly downtime_status: 'completed' | 'not_observed';
}

/** The versions before and after, and the release notes. */
export interface Replacement {
  /** null when the version is unknown. */
  readonly from: string | null;
  readonly to: string;
  readonly notes: { readonly release_url?: string | undefined; readonly notes_label?: string | undefined };
}

export class InstallationOutcome {
  readonly #host: Host;
  readonly #records: UpdateRecords;
  readonly #id: string;
  readonly #processName: string;

  constructor(host: Host, records: UpdateRecords, job: { readonly id: string; readonly processName: string }) {
    this.#host = host;
    this.#records = records;
    this.#id = job.id;
    this.#processName = job.processName;
  }

  /** Records that nothing was installed, because the release is not an update of the installed one. */
  async leave(release: AvailableRelease, current: string | null): Promise<void> {
    await this.#records.setResult(this.#processName, {
      ...lasting(this.#records.result(this.#processName)),
      ...notesOf(release),
      status: 'no_update',
      message: `${current} is installed, and ${release.version} is no update of it`,
      ...(current === null ? {} : { current_version: current }),
      checked_at: unixNow(),
    });
  }

  /** Records the success. `members` are all processes that run from the folder. */
  async succeed(
    { from, to, notes }: Replacement,
    members: readonly { readonly processName: string }[],
    timing: Downtime,
  ): Promise<void> {
    const processName = this.#processName;
    const at = unixNow();
    const message = `${to} is installed${from === null ? '' : ` in place of ${from}`}`;
    const shown = {
      ...notes,
      status: 'updated' as const,
      current_version: to,
      ...(from === null ? {} : { previous_version: from }),
      checked_at: at,
      applied_at: at,
    };
    const own: UpdateResult = { ...shown, message, ...timing, timing_completed_at: utcTime(Date.now()) };
    for (const member of members)
      await this.#records.setResult(
        member.processName,
        member.processName === processName ? own : { ...shown, message },
      );
    const sentence = `${processName} was updated: ${message}`;
    const news = { id: `applied:${this.#id}`, type: 'applied' as const, process_name: processName };
    await this.#records.addNotice({ ...shown, ...news, message: sentence });
    this.#host.log.info(sentence);
    this.#host.emit('update.succeeded', { processName, previousVersion: from, currentVersion: to });
    for (const member of members) await foundVersion(this.#host, member.processName);
  }

  /** Records the failure. `placed` is given when the service was stopped for the update. */
  async fail(
    text: string,
    current: string | null,
    placed?: Downtime & { readonly failed_version?: string },
  ): Promise<void> {
    const processName = this.#processName;
    const reason = redact(text);
    await this.#records.setResult(processName, {
      ...this.#records.result(processName),
      ...(placed === undefined ? {} : { ...placed, timing_completed_at: utcTime(Date.now()) }),
      ...(current === null ? {} : { current_version: current }),
      status: 'error',
      reason: 'install_failed',
      message: reason,
    });
    const sentence = `${processName} was not updated: ${reason}`;
    await this.#records.addNotice({
      id: `failed:${this.#id}`,
      type: 'info',
      process_name: processName,
      status: 'error',
      message: sentence,
      checked_at: unixNow(),
    });
    this.#host.log.error(sentence);
    this.#host.emit('update.failed', { processName, operation: 'install', reason });
  }

  /** Records that the installation was put off, because something else holds the process. */
  async defer(message: string): Promise<void> {
    await this.#records.setResult(this.#processName, {
      ...this.#records.result(this.#processName),
      status: 'deferred',
      reason: 'held',
      message,
    });
  }
}
