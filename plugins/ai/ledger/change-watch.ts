// Writes every change of the configuration, and every start, stop, update and removal of a service, to the ledger.
import type { ConfigChange, Host } from '#core';
import type {} from '../../config-files/contract.ts';
import type { StartTrigger, StopTrigger } from '../../process/contract.ts';
import type {} from '../../updates/contract.ts';
import type { ChangeLedger, LedgerEvent } from './change-ledger.ts';

const OWN_SECTION = 'dumb.ai';
/** The actor of changes that were made in the file itself. */
const FILE_ACTOR = 'file';
const OPEN_ACTOR = 'api';
/** The actor of changes that plugins bring into the configuration. */
const PLUGINS_ACTOR = 'plugins';

/** The source of a start or stop in the ledger, by its trigger. */
const SOURCES: Readonly<Record<StartTrigger | StopTrigger, string>> = {
  boot: 'boot',
  config: 'operator_action',
  schedule: 'schedule',
  request: 'operator_action',
  restart: 'operator_action',
  'auto-restart': 'auto_restart',
  hold: 'maintenance',
  install: 'maintenance',
  shutdown: 'shutdown',
};

/** Triggers of starts that are restarts even if the process had ended before. */
const RESTARTS: readonly StartTrigger[] = ['restart', 'auto-restart'];

export class ChangeWatch {
  readonly #host: Host;
  readonly #ledger: ChangeLedger;
  #root: Readonly<Record<string, unknown>>;
  #processNames: ReadonlySet<string>;
  /** The source under which changes of the assistant's own settings are written at present. */
  #ownSource = 'ai_settings';
  /** Names of processes that were stopped for a restart and not started since. */
  readonly #stoppedForRestart = new Set<string>();

  constructor(host: Host, ledger: ChangeLedger) {
    this.#host = host;
    this.#ledger = ledger;
    this.#root = host.use('config.store').root();
    this.#processNames = processNamesOf(host);
    host.tap('config.changed', change => this.#configChanged(change));
    host.tap('config.file-changed', ({ processName }, { before, after }) => {
      void import('./ledger-row.ts').then(async ({ fileChange }) => {
        const { summary, details } = fileChange(processName, before, after);
        const source = 'service_config_file';
        await ledger.record({ type: 'config_change', source, processName, isAuthenticated: false, summary, details });
      });
    });
    host.on('service_start', ({ data: { processName, trigger } }) => {
      // A start by the boot is not a change.
      if (trigger === 'boot') return;
      const { type, done } = this.#startEvent(processName, trigger);
      return this.#serviceEvent(type, SOURCES[trigger], processName, `${processName} was ${done}`, {
        outcome: 'success',
        trigger,
      });
    });
    host.on('service_stop', ({ data: { processName, trigger } }) => {
      // The start that follows is the event of a restart.
      if (trigger === 'restart') {
        this.#stoppedForRestart.add(processName);
        return;
      }
      this.#stoppedForRestart.delete(processName);
      // Nobody asked for this service alone when it stops with the host.
      const source = host.stopping === null ? SOURCES[trigger] : SOURCES.shutdown;
      return this.#serviceEvent('service_stop', source, processName, `${processName} was stopped`, {
        outcome: 'success',
        trigger,
      });
    });
    host.on('service.start.failed', ({ data: { processName, reason, trigger } }) => {
      const { type, done } = this.#startEvent(processName, trigger);
      return this.#serviceEvent(type, SOURCES[trigger], processName, `${processName} could not be ${done}`, {
        outcome: 'failed',
        trigger,
        reason,
      });
    });
    host.on('update.succeeded', ({ data: { processName, previousVersion, currentVersion } }) =>
      this.#serviceEvent('update_install', 'maintenance', processName, `${processName} was updated`, {
        outcome: 'success',
        previous_version: previousVersion,
        current_version: currentVersion,
      }),
    );
    host.on('update.failed', ({ data: { processName, operation, reason } }) => {
      if (operation === 'check') return;
      this.#serviceEvent('update_install', 'maintenance', processName, `${processName} could not be updated`, {
        outcome: 'failed',
        reason,
      });
    });
  }

  /** Runs `change`; its changes of the assistant's settings are written under this source. */
  async as<Value>(source: string, change: () => Promise<Value>): Promise<Value> {
    const before = this.#ownSource;
    this.#ownSource = source;
    try {
      return await change();
    } finally {
      this.#ownSource = before;
    }
  }

  #configChanged({ paths, processName, actor, persisted }: ConfigChange): void {
    const store = this.#host.use('config.store');
    const [before, after] = [this.#root, store.root()];
    // Read with the present schemas, because a schema that was added after this plugin may call a member secret.
    const open = { before: this.#withoutSecrets(paths, before), after: this.#withoutSecrets(paths, after) };
    this.#root = after;
    const isOwn = paths.every(changed => changed === OWN_SECTION || changed.startsWith(`${OWN_SECTION}.`));
    const source = isOwn ? this.#ownSource : 'dumb_config';
    const isAuthenticated = ![FILE_ACTOR, OPEN_ACTOR, PLUGINS_ACTOR].includes(actor) && !isPlugin(this.#host, actor);
    const origin = actor === FILE_ACTOR ? { origin: 'file' } : {};
    this.#noteRemovals(isAuthenticated);
    void import('./ledger-row.ts').then(async ({ configChange }) => {
      const change = configChange(before, after, { paths, open });
      if (change === undefined) return;
      const { summary, details } = change;
      await this.#ledger.record({
        type: 'config_change',
        source,
        processName: processName ?? null,
        isAuthenticated,
        summary,
        details: { ...details, persisted, ...origin },
      });
    });
  }

  /** The top-level parts of the configuration in which these dotted paths lie, without secrets. */
  #withoutSecrets(paths: readonly string[], root: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const store = this.#host.use('config.store');
    const parts = new Set(paths.map(changed => changed.split('.', 1)[0] ?? ''));
    return Object.fromEntries([...parts].map(part => [part, store.withoutSecrets([part], root)]));
  }

  /** Records services whose block was removed from the configuration. */
  #noteRemovals(isAuthenticated: boolean): void {
    const before = this.#processNames;
    this.#processNames = processNamesOf(this.#host);
    for (const processName of before) {
      if (this.#processNames.has(processName)) continue;
      const summary = `${processName} was removed`;
      this.#serviceEvent(
        'service_removed',
        'operator_action',
        processName,
        summary,
        { outcome: 'success' },
        isAuthenticated,
      );
    }
  }

  #startEvent(
    processName: string,
    trigger: StartTrigger,
  ): { readonly type: LedgerEvent['type']; readonly done: string } {
    const isRestart = this.#stoppedForRestart.delete(processName) || RESTARTS.includes(trigger);
    return isRestart ? { type: 'service_restart', done: 'restarted' } : { type: 'service_start', done: 'started' };
  }

  #serviceEvent(
    type: LedgerEvent['type'],
    source: string,
    processName: string,
    summary: string,
    details: Readonly<Record<string, unknown>>,
    isAuthenticated = false,
  ): void {
    void this.#ledger.record({ type, source, processName, isAuthenticated, summary, details });
  }
}

function processNamesOf(host: Host): ReadonlySet<string> {
  return new Set(
    host
      .use('config.store')
      .blocks()
      .map(({ processName }) => processName),
  );
}

/** Plugins change the configuration under their own names. */
function isPlugin(host: Host, actor: string): boolean {
  return host.plugins().some(({ name }) => name === actor);
}
