// One watch for each service with the key `watch` that was started and should still run. Changes in quick succession
// lead to one restart, once no more come.
import { type ChildProcess, spawn } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import path from 'node:path';
import type { Host } from '#core';
import { errorText } from '#kit/error-text';
import { helperEnvironment } from '#kit/helper-environment';
import { logFileOf } from '#kit/service-log';
import { moduleArguments } from '#kit/worker';
import type { LaunchPlan } from '../process/contract.ts';
import { type WatchSettings, watchOf } from './settings.ts';
import type { WatchMessage, WatchOrder } from './watch-worker.ts';

interface Watch {
  /** The settings that it was made from, as JSON, to notice changes. */
  readonly made: string;
  readonly settings: WatchSettings;
  readonly child: ChildProcess;
  readonly changed: Set<string>;
  timer: NodeJS.Timeout | undefined;
}

export class Watches {
  readonly #host: Host;
  readonly #watches = new Map<string, Watch>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Begins or renews the watch of a service. `cwd` is the directory in which the service was launched. */
  begin({ processName, block, cwd, user }: Pick<LaunchPlan, 'processName' | 'block' | 'cwd' | 'user'>): void {
    const settings = watchOf(block);
    const made = JSON.stringify([settings, block.config_dir, user]);
    if (this.#watches.get(processName)?.made === made) return;
    this.#end(processName);
    if (settings === undefined) return;
    const log = logFileOf(block.log_file, this.#host.paths.logDir);
    const order: WatchOrder = {
      paths: settings.paths.map(place => path.resolve(cwd ?? '/', place)),
      ignore: [...settings.ignore, ...(log === null ? [] : [log])],
      user: this.#reader(user),
    };
    this.#watches.set(processName, this.#open(processName, made, settings, order));
  }

  /** Begins the watches of all running services. */
  async beginAll(): Promise<void> {
    const supervisor = this.#host.find('process.supervisor');
    for (const named of supervisor?.blocks() ?? []) {
      const process = watchOf(named.block) === undefined ? undefined : supervisor?.get(named.processName);
      if (supervisor === undefined || process?.status !== 'running') continue;
      const place = await readlink(`/proc/${process.pid}/cwd`).catch(() => '/');
      const plan = supervisor.plan(named);
      this.begin({ ...plan, cwd: plan.cwd ?? place });
    }
  }

  /** Ends the watches of services that should not run any more. */
  prune(): void {
    for (const processName of this.#watches.keys()) {
      const process = this.#host.find('process.supervisor')?.get(processName);
      const block = this.#host.use('config.store').findBlock(processName)?.block;
      const isWanted = process?.enabled === true && !process.stoppedByUser;
      if (!isWanted || block === undefined || watchOf(block) === undefined) this.#end(processName);
    }
  }

  end(): void {
    for (const name of this.#watches.keys()) this.#end(name);
  }

  /** The user who watches: never root, even for a service that runs as root, so that only services' files are seen. */
  #reader(user: LaunchPlan['user']): WatchOrder['user'] {
    if (process.getuid?.() !== 0) return null;
    const { puid, pgid } = this.#host.use('config.store').root();
    return user ?? { uid: Number(puid), gid: Number(pgid) };
  }

  #open(processName: string, made: string, settings: WatchSettings, order: WatchOrder): Watch {
    const child = spawn(process.execPath, moduleArguments('watch-worker', import.meta.url), {
      env: helperEnvironment(),
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const watch: Watch = { made, settings, child, changed: new Set(), timer: undefined };
    const failed = (why: string): void => {
      if (this.#watches.get(processName) !== watch) return;
      this.#end(processName);
      this.#host.log.warn(`${processName} is not watched for changes until its next start: ${why}`);
    };
    child.once('error', error => failed(errorText(error)));
    child.once('exit', (code, signal) => failed(`its watch ended with ${signal ?? `exit code ${code}`}`));
    child.on('message', (message: WatchMessage) => this.#take(processName, watch, message));
    const sent = (error: Error | null): void => {
      if (error !== null) failed(errorText(error));
    };
    // A child that could not be made, because no descriptors were left, has no channel.
    if (child.connected) child.send(order, sent);
    child.unref();
    child.channel?.unref();
    return watch;
  }

  #take(processName: string, watch: Watch, message: WatchMessage): void {
    if (message.kind === 'failed') {
      this.#end(processName);
      this.#host.log.warn(`${processName} is not watched for changes until its next start: ${message.reason}`);
      return;
    }
    if (message.kind === 'polling') {
      const interval = `${message.intervalMs / 1_000} s`;
      this.#host.log.warn(`${processName}: no watches are left, changes are looked for every ${interval}`);
      return;
    }
    if (message.kind === 'ready') {
      for (const place of message.missing)
        this.#host.log.warn(`${processName}: ${place} of its watch cannot be seen by its user`);
      this.#host.log.info(`${processName} is watched for changes`);
      return;
    }
    watch.changed.add(message.file);
    clearTimeout(watch.timer);
    watch.timer = setTimeout(() => void this.#restart(processName, watch), watch.settings.delayMs).unref();
  }

  async #restart(processName: string, watch: Watch): Promise<void> {
    const { log } = this.#host;
    const supervisor = this.#host.find('process.supervisor');
    const before = supervisor?.get(processName);
    if (supervisor !== undefined && before?.held) {
      log.info(`${processName} is held (${before.held.reason}); it is restarted for its changes when that is done`);
      await supervisor.released(processName).catch(() => undefined);
      // The holder may have restarted the process, or left it stopped.
      if (supervisor.get(processName)?.pid !== before.pid) watch.changed.clear();
      if (watch.changed.size === 0 || this.#watches.get(processName) !== watch) return;
    }
    const process = supervisor?.get(processName);
    if (process === undefined || !process.enabled || process.stoppedByUser || this.#host.stopping !== null) return;
    const [file = ''] = watch.changed;
    const others = watch.changed.size > 1 ? ` and ${watch.changed.size - 1} more` : '';
    watch.changed.clear();
    log.info(`${processName} is restarted: ${file}${others} changed`);
    try {
      await supervisor?.restart(processName, 'auto-restart', this.#host.name);
    } catch (error) {
      log.warn(`${processName} could not be restarted after a change: ${errorText(error)}`);
    }
  }

  #end(processName: string): void {
    const watch = this.#watches.get(processName);
    if (watch === undefined) return;
    this.#watches.delete(processName);
    clearTimeout(watch.timer);
    if (watch.child.connected) watch.child.disconnect();
    watch.child.kill('SIGKILL');
  }
}
