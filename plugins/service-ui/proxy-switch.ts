// Switches embedding on and off: saves the setting, then starts or stops the reverse proxy in the background, if one is
// installed.
import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigUpdateResult, Host, NamedBlock } from '#core';
import { errorText } from '#kit/error-text';
import type {} from '../process/contract.ts';
import type {} from '../setup/contract.ts';
import type {} from './contract.ts';

/** A start that fails within this time, for example because of a missing program, is reported in the answer. */
const EARLY_FAILURE_MS = 500;

export interface ProxyState {
  readonly proxy_state: 'starting' | 'running' | 'stopped' | 'error';
  readonly proxy_error: string | null;
}

type Switched = ProxyState & Pick<ConfigUpdateResult, 'overridden' | 'warnings'>;

export class ProxySwitch {
  readonly #host: Host;
  #last: Promise<unknown> = Promise.resolve();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Requests are processed one at a time; the last one wins. */
  set(enabled: boolean, actor: string): Promise<Switched> {
    const run = this.#last.then(() => this.#set(enabled, actor));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #set(enabled: boolean, actor: string): Promise<Switched> {
    const store = this.#host.use('config.store');
    const key = this.#host.find('service.proxy')?.configKey;
    const proxy = store.blocks().find(({ configKey }) => key !== undefined && configKey === key);
    const embedded = { dumb: { service_ui: { enabled } } };
    const usesProxy = proxy !== undefined && (!enabled || (await this.#isInstalled(proxy)));
    const updates = usesProxy && key !== undefined ? { ...embedded, [key]: { enabled } } : embedded;
    const { overridden, warnings } = await store.update({ updates, persist: true, actor });
    const state = usesProxy ? await this.#act(proxy, enabled, actor) : undefined;
    return { ...(state ?? { proxy_state: 'stopped', proxy_error: null }), overridden, warnings };
  }

  async #act({ processName }: NamedBlock, enabled: boolean, actor: string): Promise<ProxyState | undefined> {
    const supervisor = this.#host.find('process.supervisor');
    if (supervisor === undefined) return undefined;
    const work = enabled ? supervisor.restart(processName, 'restart', actor) : supervisor.stop(processName, actor);
    const failed = Promise.resolve(work).then(
      () => null,
      (error: unknown) => {
        this.#host.log.warn(`the reverse proxy could not be ${enabled ? 'started' : 'stopped'}`, error);
        return errorText(error);
      },
    );
    const failure = await (enabled ? Promise.race([failed, delay(EARLY_FAILURE_MS, null)]) : failed);
    if (failure !== null) return { proxy_state: 'error', proxy_error: failure };
    const status = supervisor.get(processName)?.status;
    return {
      proxy_state: status === 'running' || status === 'starting' ? status : 'stopped',
      proxy_error: null,
    };
  }

  /** A proxy whose program is missing stays off: interfaces are embedded without it. */
  async #isInstalled(proxy: NamedBlock): Promise<boolean> {
    const obstacle = await this.#host.find('service.setup')?.missing(proxy);
    if (obstacle !== undefined) this.#host.log.info(`embedding without ${proxy.processName}: ${obstacle.message}`);
    return obstacle === undefined;
  }
}
