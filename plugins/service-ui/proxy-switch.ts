// Switches embedding on and off: saves the setting, then starts or stops the reverse proxy in the background.
import { setTimeout as delay } from 'node:timers/promises';
import { type Host, Problem } from '#core';
import { errorText } from '#kit/error-text';
import type {} from '../process/contract.ts';
import type {} from './contract.ts';

/** A start that fails within this time, for example for a missing program, is reported in the answer. */
const FIRST_WORD_MS = 500;

export interface ProxyState {
  readonly proxy_state: 'starting' | 'running' | 'stopped' | 'error';
  readonly proxy_error: string | null;
}

export class ProxySwitch {
  readonly #host: Host;
  #last: Promise<unknown> = Promise.resolve();
  #error: string | null = null;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Requests are processed one at a time; the last one wins. */
  set(enabled: boolean, actor: string): Promise<ProxyState> {
    const run = this.#last.then(() => this.#set(enabled, actor));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #set(enabled: boolean, actor: string): Promise<ProxyState> {
    const store = this.#host.use('config.store');
    const key = this.#host.find('service.proxy')?.configKey;
    const block = store.blocks().find(({ configKey }) => configKey === key);
    if (key === undefined || block === undefined)
      throw new Problem(409, `No reverse proxy is configured; add a ${key ?? 'reverse proxy'} block`);
    await store.update({ updates: { [key]: { enabled } }, persist: true, actor });
    const supervisor = this.#host.find('process.supervisor');
    if (supervisor === undefined) return { proxy_state: 'stopped', proxy_error: null };
    const { processName } = block;
    this.#error = null;
    const work = enabled ? supervisor.restart(processName, 'restart', actor) : supervisor.stop(processName, actor);
    const settled = Promise.resolve(work).then(
      () => undefined,
      (error: unknown) => {
        this.#error = errorText(error);
        this.#host.log.warn(`the reverse proxy could not be ${enabled ? 'started' : 'stopped'}`, error);
      },
    );
    await (enabled ? Promise.race([settled, delay(FIRST_WORD_MS)]) : settled);
    if (this.#error !== null) return { proxy_state: 'error', proxy_error: this.#error };
    const status = supervisor.get(processName)?.status;
    return {
      proxy_state: status === 'running' || status === 'starting' ? status : 'stopped',
      proxy_error: null,
    };
  }
}
