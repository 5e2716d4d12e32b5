// What a service needs before it is launched: others put its program in place, or write what its application wants to find.
import type { AsyncSeriesHook } from 'tapable';
import type { NamedBlock } from '#core';
import type { LaunchPlan } from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';

/** One set-up, as its steps see it. Everything they do must be idempotent: it is done at each start. */
export interface SetupContext {
  readonly plan: LaunchPlan;
  readonly block: NamedBlock;
  readonly template: ServiceTemplate;
  /** Who the files of the service belong to; null: the host itself. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** The text with its placeholders filled; unknown ones stay. */
  fill(text: string): string;
  /** Makes a directory and its parents; what is made belongs to the service. */
  makeDirectory(directory: string, mode?: number): Promise<void>;
  /** Saves options of the block, for example a generated password. */
  store(options: Record<string, unknown>): Promise<void>;
}

/** A step for one kind of service that a template cannot express. */
export interface ServiceConfigure {
  readonly configKey: string;
  /** Throws a Problem that says what is missing. */
  configure(context: SetupContext): Promise<void>;
}

declare module '#core' {
  interface Contributions {
    'service.configure': ServiceConfigure;
  }
  interface Hooks {
    /** Before the look for the program: a tap may put it in place. A throw vetoes the start. */
    'service.install': AsyncSeriesHook<[SetupContext]>;
  }
}
