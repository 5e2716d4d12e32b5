// What health probing offers: the probes of kinds of services, and the last answers of running processes.
import type { AsyncParallelHook } from 'tapable';
import type { NamedBlock } from '#core';
import type { HealthReport, ProcessSnapshot } from '../process/contract.ts';

/** How processes with one config key are probed once their ports accept connections. */
type KindProbe = { readonly configKey: string } & (HttpProbe | CustomProbe);

/** How processes whose block has a key are probed, instead of by their ports and the probe of their kind. */
type KeyProbe = { readonly blockKey: string } & CustomProbe;

export type ProcessProbe = KindProbe | KeyProbe;

/** Signs that an answer comes from the application itself and not from something else on its port. */
interface ExpectedAnswer {
  /** Text that the body must contain. */
  readonly marker?: string | undefined;
  /** Key that the JSON body must have. */
  readonly jsonKey?: string | undefined;
}

export interface HttpProbe extends ExpectedAnswer {
  readonly path: string;
  /** Key of the block that has the port. Default `port`. */
  readonly portKey?: string | undefined;
}

/** An HTTP address on this machine. */
export interface HealthAddress extends ExpectedAnswer {
  readonly path: string;
  readonly port: number;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CustomProbe {
  /**
   * Must resolve within a few seconds; undefined when there is nothing to probe. `ask` requests an address and
   * interprets the answer as for any other probe.
   */
  readonly check: (
    block: NamedBlock,
    ask: (address: HealthAddress) => Promise<HealthReport>,
  ) => Promise<HealthReport | undefined>;
}

/** Health reports of running processes. A report applies only to the run of the process that gave it. */
export interface ProcessHealth {
  /** A number that changes with the status and the reason of a latest report. */
  readonly revision: number;
  /** The latest report; undefined before the first one. */
  last(process: ProcessSnapshot): HealthReport | undefined;
  /** Probes the process, unless its latest report is only a moment old. */
  ask(process: ProcessSnapshot): Promise<HealthReport | undefined>;
  /**
   * Probes a process that is starting, whatever its latest report. False also for a process that has neither a port nor
   * a health address nor a probe of its kind. Only a report that it is healthy is kept.
   */
  isUp(process: ProcessSnapshot): Promise<boolean>;
}

declare module '#core' {
  interface Contributions {
    /** How the health of processes of one kind is probed. */
    'process.probe': ProcessProbe;
  }
  interface Services {
    /** Health reports of running processes. */
    'process.health': ProcessHealth;
  }
  interface Hooks {
    /**
     * After a health report of a running process that says something new, and after each until the process was ready.
     */
    'process.probed': AsyncParallelHook<[ProcessSnapshot, HealthReport]>;
  }
}
