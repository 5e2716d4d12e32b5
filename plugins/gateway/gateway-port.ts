// Holds the gateway's port whenever the web frontend does not: the port is released right before the launch of the
// frontend, and taken back as soon as the frontend no longer listens.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Host, Listener, NamedBlock } from '#core';
import { urlHost } from '#kit/client-host';
import type { ProcessSnapshot } from '../process/contract.ts';

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;
/** How long requests may still take when the frontend takes over, such as the one that starts it. */
const GRACE_MS = 30_000;
const END_GRACE_MS = 1_000;

export interface GatewayPortOptions {
  readonly host: Host;
  /** The address to listen on while no frontend is expected. */
  readonly address: string;
  readonly port: number;
  open(address: string): Promise<Listener>;
}

export class GatewayPort {
  readonly #options: GatewayPortOptions;
  #listener: Listener | undefined;
  /** Released listeners whose last requests are still being answered. */
  readonly #leaving = new Set<Listener>();
  #opening: Promise<void> | undefined;
  /** The address to listen on; undefined while the frontend has the port. */
  #wanted: string | undefined;
  /** The frontend that was given the port last; its entry may name another port by now. */
  #holder: string | undefined;
  /** The address that the frontend's entry named when it was given the port; undefined when it named none. */
  #frontendAddress: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #complaint = '';

  constructor(options: GatewayPortOptions) {
    this.#options = options;
    const { host } = options;
    host.tap('process.launching', async ({ processName }) => {
      const block = this.#frontendBlock();
      if (block?.processName === processName) await this.#give(block);
    });
    host.tap('process.status', process => this.#follow(process));
  }

  /** Name of the frontend that should serve this port but is not running; undefined when there is none. */
  awaited(): string | undefined {
    const process = this.#frontend();
    return process !== undefined && isExpected(process) ? process.processName : undefined;
  }

  /** Opens the port unless the frontend has it. Resolves when the first attempt has succeeded or failed. */
  async take(): Promise<void> {
    const block = this.#frontendBlock();
    const process = this.#frontend();
    // When the gateway is set up again, the frontend may have the port already.
    if (block !== undefined && process !== undefined && process.pid !== null) return this.#give(block);
    this.#wanted = this.#addressFor(process);
    await this.#open();
  }

  async close(): Promise<void> {
    this.#wanted = undefined;
    clearTimeout(this.#timer);
    await this.#opening;
    const listeners = [...this.#leaving, ...(this.#listener === undefined ? [] : [this.#listener])];
    this.#listener = undefined;
    await Promise.all(listeners.map(listener => listener.close(END_GRACE_MS)));
  }

  /** The entry below `dumb` that has this port, as the frontend's entry does by default. */
  #frontendBlock(): NamedBlock | undefined {
    const { host, port } = this.#options;
    const blocks = host.find('config.store')?.blocks() ?? [];
    return blocks.find(({ path, isHost, block }) => path[0] === 'dumb' && !isHost && block.port === port);
  }

  #frontend(): ProcessSnapshot | undefined {
    const block = this.#frontendBlock();
    return block === undefined ? undefined : this.#options.host.find('process.supervisor')?.get(block.processName);
  }

  async #give({ processName, block }: NamedBlock): Promise<void> {
    this.#wanted = undefined;
    this.#holder = processName;
    this.#frontendAddress = typeof block.host === 'string' && block.host !== '' ? block.host : undefined;
    clearTimeout(this.#timer);
    await this.#opening;
    await this.#release(`stepping aside: ${processName} serves port ${this.#options.port}`);
  }

  #follow(process: ProcessSnapshot): void {
    const { processName, configKey, status } = process;
    if (!configKey.startsWith('dumb_') || this.#options.host.stopping !== null) return;
    const block = this.#frontendBlock();
    if (processName !== block?.processName && processName !== this.#holder) return;
    if (status === 'running' && processName === block?.processName) void this.#give(block);
    // A frontend that is stopping may have released the port already.
    if (status !== 'stopping' && status !== 'stopped') return;
    this.#wanted = this.#addressFor(this.#frontend());
    this.#retryMs = FIRST_RETRY_MS;
    void this.#open();
  }

  /** The frontend's address, so that its clients reach the gateway there, unless a user has stopped the frontend. */
  #addressFor(process: ProcessSnapshot | undefined): string {
    const standsIn = process !== undefined && isExpected(process) ? this.#frontendAddress : undefined;
    return standsIn ?? this.#options.address;
  }

  /**
   * Resolves when the port is free; open connections close later. New ones are refused until the frontend listens: a
   * handover without that gap would need two programs that both open the port as a shared one (SO_REUSEPORT).
   */
  async #release(why: string): Promise<void> {
    const listener = this.#listener;
    if (listener === undefined) return;
    this.#listener = undefined;
    this.#options.host.log.info(why);
    this.#leaving.add(listener);
    // When a listener closes, the kernel resets the connections that the program has not accepted yet. One turn of the
    // event loop accepts all of them.
    await nextTurn();
    void listener.close(GRACE_MS).finally(() => this.#leaving.delete(listener));
  }

  /** Whether the frontend that had the port last is stopping. */
  #isBeingLeft(): boolean {
    const holder = this.#holder ?? '';
    return this.#options.host.find('process.supervisor')?.get(holder)?.status === 'stopping';
  }

  #open(): Promise<void> {
    this.#opening ??= this.#attempt().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #attempt(): Promise<void> {
    clearTimeout(this.#timer);
    const { host } = this.#options;
    const address = this.#wanted;
    if (address === undefined || address === this.#listener?.host) return;
    await this.#release('the gateway changes its address');
    const isBeingLeft = this.#isBeingLeft();
    try {
      this.#listener = await this.#options.open(address);
      this.#complaint = '';
      host.log.info(`gateway on http://${urlHost(address)}:${this.#listener.port}`);
      if (this.#wanted !== address) this.#timer = setTimeout(() => void this.#open());
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      // No warning while a frontend starts, runs or stops, or leaves this port for another: the port is its own then.
      const status = this.#frontend()?.status ?? 'stopped';
      if (status === 'stopped' && !isBeingLeft && message !== this.#complaint) {
        this.#complaint = message;
        const remedy =
          code === 'EADDRINUSE'
            ? 'dumb.gateway.port chooses another'
            : 'dumb.gateway.host and dumb.gateway.port choose another';
        host.log.warn(`no gateway: ${message}; it is tried again, and ${remedy}`);
      }
      this.#timer = setTimeout(() => void this.#open(), this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
  }
}

function isExpected({ enabled, stoppedByUser }: ProcessSnapshot): boolean {
  return enabled && !stoppedByUser;
}
