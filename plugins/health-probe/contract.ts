// What health probing offers: the probes of kinds of services, and what running processes last answered.
import type { AsyncParallelHook } from 'tapable';
import type { NamedBlock } from '#core';
import type { HealthReport, ProcessSnapshot } from '../process/contract.ts';

/** What is asked of a process of one config key after its ports accept. */
export type ProcessProbe = { readonly configKey: string } & (HttpProbe | CustomProbe);

/** What its answer must hold to be the application's own. */
interface ExpectedAnswer {
  /** The body must hold this text. */
  readonly marker?: string | undefined;
  /** The JSON body must have this key. */
  readonly jsonKey?: string | undefined;
}

export interface HttpProbe extends ExpectedAnswer {
  readonly path: string;
  /** Key of the block that holds its port. Default `port`. */
  readonly portKey?: string | undefined;
}

/** An address on this machine. */
export interface HealthAddress extends ExpectedAnswer {
  readonly path: string;
  readonly port: number;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CustomProbe {
  /** Ends within a few seconds; undefined: there is nothing to ask. `ask` understands an answer as of any other. */
  readonly check: (
    block: NamedBlock,
    ask: (address: HealthAddress) => Promise<HealthReport>,
  ) => Promise<HealthReport | undefined>;
}

/** Answers of running processes; each counts for the very process that gave it. */
export interface ProcessHealth {
  /** What it answered last; undefined before its first answer. */
  last(process: ProcessSnapshot): HealthReport | undefined;
  /** Asked anew, unless it was a moment ago. */
  ask(process: ProcessSnapshot): Promise<HealthReport | undefined>;
}

declare module '#core' {
  interface Contributions {
    /** How processes of one kind are asked whether they are well. */
    'process.probe': ProcessProbe;
  }
  interface Services {
    /** Answers of running processes to their probes. */
    'process.health': ProcessHealth;
  }
  interface Hooks {
    /** After each answer of a running process. */
    'process.probed': AsyncParallelHook<[ProcessSnapshot, HealthReport]>;
  }
}
