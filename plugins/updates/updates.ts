// Updates of services on request and on schedule, and the update status of each process.
import type { Host, NamedBlock } from '#core';
import { utcTime } from '#kit/utc-time';
import type { InstallSelector } from '../installs/contract.ts';
import type {} from '../services/contract.ts';
import { autoUpdate } from './auto-update.ts';
import { knownVersion } from './present-version.ts';
import { blockedBy, blockedMessage, isSelected, selectorFor, targetKindOf, type UpdateTarget } from './selection.ts';
import { standingResult } from './standing-result.ts';
import { unsupportedSentence } from './unsupported.ts';
import { UpdateChecks } from './update-checks.ts';
import { UpdateInstalls } from './update-installs.ts';
import type { UpdateRecords } from './update-records.ts';
import type { UpdateStatus } from './update-result.ts';
import { UpdateSchedule } from './update-schedule.ts';

const MS_PER_S = 1_000;
const IMAGE = 'Stackwarden is updated with its image: pull the new image and start the container again';

export interface UpdateRequest {
  readonly target: UpdateTarget | undefined;
  /** Whether a selection of the block that blocks updates is ignored this once. */
  readonly mayOverride: boolean;
}

export class Updates {
  readonly #host: Host;
  readonly #records: UpdateRecords;
  readonly #checks: UpdateChecks;
  readonly #installs: UpdateInstalls;
  readonly #schedule: UpdateSchedule;

  private constructor(host: Host, records: UpdateRecords, installs: UpdateInstalls) {
    this.#host = host;
    this.#records = records;
    this.#checks = new UpdateChecks(host, records);
    this.#installs = installs;
    this.#schedule = new UpdateSchedule(host, {
      records,
      isPossible: block => {
        const selector = this.#selectorOf(block);
        return selector && blockedBy(selector) === null;
      },
      update: block => this.#updateAsScheduled(block),
    });
  }

  static async open(host: Host, records: UpdateRecords): Promise<Updates> {
    return new Updates(host, records, await UpdateInstalls.open(host, records));
  }

  start(): void {
    this.#schedule.start();
  }

  end(): void {
    this.#schedule.end();
  }

  /** Forgets processes that the configuration does not have any more. */
  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    this.#schedule.keepOnly(names);
    await this.#records.keepOnly(names);
  }

  /** Changes with every change of a status, except those caused by the configuration or by a version. */
  get revision(): string {
    return `${this.#records.revision} ${this.#installs.revision}`;
  }

  /** The members of the entry of a process in the list of processes. */
  entry(block: NamedBlock): { supports_manual_update: boolean; update_status: UpdateStatus | null } {
    const isSupported = this.#isSupported(block);
    return { supports_manual_update: isSupported, update_status: isSupported ? this.#status(block) : null };
  }

  /** The update status of a process; null when updates are not supported, or nothing is known and no check planned. */
  status(block: NamedBlock): UpdateStatus | null {
    return this.entry(block).update_status;
  }

  /** Like `status`, but gives `unsupported` for a process whose updates cannot be installed from here. */
  standing(block: NamedBlock): UpdateStatus | null {
    return this.#isSupported(block) ? this.#status(block) : this.#unsupported(block);
  }

  /** Checks for an update and gives the status after it. */
  async check(block: NamedBlock, options: { readonly force: boolean }): Promise<UpdateStatus> {
    if (this.#selectorOf(block) === undefined) return this.#unsupported(block);
    const failure = await this.#checks.check(block, options);
    const status = this.status(block) ?? this.#unsupported(block);
    return failure === null || status.status === 'installing'
      ? status
      : { ...status, status: 'error', message: failure };
  }

  /** Installs an update. Resolves with the status after it. */
  async install(block: NamedBlock, { target, mayOverride }: UpdateRequest): Promise<UpdateStatus> {
    const configured = this.#selectorOf(block);
    if (configured === undefined) return this.#unsupported(block);
    const { processName } = block;
    const reason = blockedBy(configured);
    if (reason !== null && !mayOverride && target !== 'configured')
      return { ...this.#plain(block, 'blocked', this.#blockedMessage(block, configured)), reason };
    const order = {
      process_name: processName,
      selector: selectorFor(configured, target),
      is_wanted_anyway: mayOverride || target !== undefined,
    };
    if (await this.#installs.request(order)) return this.status(block) ?? this.#unsupported(block);
    const message = 'Another update is being installed; try again when it is done';
    return { ...this.#plain(block, 'installing', message), reason: 'update_in_progress' };
  }

  /** Counts the intervals of the schedule from today on. Returns a sentence about the next check. */
  reschedule(block: NamedBlock): string {
    const { processName } = block;
    this.#schedule.reschedule(block);
    const next = this.#schedule.nextAt(block);
    const { enabled, warning } = autoUpdate(block.block);
    const why = enabled ? `, because ${this.#obstacle(block)}` : '; set auto_update to have them looked for';
    const what =
      next === null
        ? `Updates of ${processName} are not looked for on a schedule${why}`
        : `Updates of ${processName} are looked for at ${utcTime(next.getTime())}`;
    return warning === null ? what : `${what}; ${warning}`;
  }

  /** Checks for an update and installs it if the block wants that. Resolves with whether it was put off. */
  async #updateAsScheduled(block: NamedBlock): Promise<boolean> {
    const { processName } = block;
    const failure = await this.#checks.check(block, { force: true });
    const found = this.#records.result(processName);
    const selector = this.#selectorOf(block);
    if (failure !== null || found?.status !== 'update_available' || selector === undefined) return false;
    // Read now, because they may have changed during the check.
    const { enabled, mode } = autoUpdate(this.#host.use('config.store').findBlock(processName)?.block ?? {});
    if (!enabled || mode === 'check_only' || found.available_version === found.failed_version) return false;
    await this.#installs.queue({ process_name: processName, selector, is_wanted_anyway: false });
    return this.#records.result(processName)?.status === 'deferred';
  }

  #obstacle(block: NamedBlock): string {
    const selector = this.#selectorOf(block);
    return selector === undefined || blockedBy(selector) === null
      ? 'they cannot be installed from here'
      : this.#blockedMessage(block, selector);
  }

  #blockedMessage({ processName }: NamedBlock, selector: InstallSelector): string {
    return blockedMessage(processName, this.#host.use('installs').settingOf(selector) ?? selector.kind);
  }

  #unsupported(block: NamedBlock): UpdateStatus {
    const message = block.isHost ? IMAGE : unsupportedSentence(this.#host, block);
    return this.#plain(block, 'unsupported', message);
  }

  #plain(block: NamedBlock, status: UpdateStatus['status'], message: string): UpdateStatus {
    return { ...this.#common(block), status, message };
  }

  #status(block: NamedBlock): UpdateStatus | null {
    const { processName } = block;
    const next = this.#schedule.nextAt(block);
    const active = this.#installs.active(processName);
    const known = this.#records.result(processName);
    if (next === null && active === undefined && known === undefined) return null;
    const selector = this.#host.use('installs').selector(processName);
    // A recorded `blocked` says nothing when the block does not block updates any more.
    const isOutdated = known === undefined || (known.status === 'blocked' && blockedBy(selector) === null);
    const result = isOutdated ? undefined : standingResult(known, knownVersion(this.#host, processName));
    const { told_failure: _told, failed_version: _failed, ...shown } = result ?? {};
    const base = { ...this.#common(block, selector), ...(next === null ? {} : { next_check_at: seconds(next) }) };
    if (active !== undefined)
      return { ...base, ...shown, status: 'installing', message: `${processName}: ${active.step}` };
    if (result !== undefined) return { ...base, ...shown, status: result.status, message: result.message };
    if (next === null) return null;
    return { ...base, status: 'scheduled', message: `Updates are looked for at ${utcTime(next.getTime())}` };
  }

  #common(block: NamedBlock, selector: InstallSelector | undefined = this.#selectorOf(block)) {
    const { processName } = block;
    const { enabled, mode, intervalHours, startTime } = autoUpdate(block.block);
    const version = knownVersion(this.#host, processName) ?? this.#records.result(processName)?.current_version ?? null;
    const isInstalled = selector === undefined ? undefined : isSelected(selector, version);
    return {
      process_name: processName,
      auto_update_enabled: enabled,
      auto_update_mode: mode,
      auto_update_interval: intervalHours,
      auto_update_start_time: startTime,
      ...(selector === undefined ? {} : { configured_target_kind: targetKindOf(selector) }),
      ...(isInstalled === undefined ? {} : { configured_target_installed: isInstalled }),
    };
  }

  /** The release that the block selects; undefined when updates of the process are not supported. */
  #selectorOf(block: NamedBlock): InstallSelector | undefined {
    return this.#isSupported(block) ? this.#host.use('installs').selector(block.processName) : undefined;
  }

  #isSupported({ processName, configKey, isHost }: NamedBlock): boolean {
    const template = this.#host.find('service.templates')?.get(configKey);
    // Checked first, because this suffices for most blocks, and the question to `installs` goes through all blocks.
    if (isHost || template?.install === undefined || !('auto_update' in template.block)) return false;
    return this.#host.find('installs')?.isSupported(processName) === true;
  }
}

function seconds(moment: Date): number {
  return Math.floor(moment.getTime() / MS_PER_S);
}
