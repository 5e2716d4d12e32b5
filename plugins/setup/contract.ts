// How plugins take part in the set-up of a service before its launch: installing its program, or writing its files.
import type { AsyncSeriesHook } from 'tapable';
import type { NamedBlock, Problem } from '#core';
import type { LaunchPlan } from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';

/** One set-up, as its steps see it. Steps must be idempotent, because they run at each start. */
export interface SetupContext {
  readonly plan: LaunchPlan;
  readonly block: NamedBlock;
  readonly template: ServiceTemplate;
  /** The user to whom the service's files belong; null for the host's own user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** The text with its placeholders replaced; unknown ones stay. */
  fill(text: string): string;
  /** Creates a directory and its missing parents, owned by the service's user. */
  makeDirectory(directory: string, mode?: number): Promise<void>;
  /** Saves options of the block, for example a generated password. */
  store(options: Record<string, unknown>): Promise<void>;
}

/**
 * How one kind of service is launched where that depends on what is installed, or on more than its block. Also called
 * to find out whether a service could be started, so it changes nothing but the plan.
 */
export interface ServiceProgram {
  readonly configKey: string;
  /**
   * Throws a Problem that says which option of the block is missing or wrong, so that nothing is installed for the
   * service. Changes nothing.
   */
  check?(context: OptionsContext): Promise<void>;
  /** Changes `argv` and `env` of the plan. Throws a Problem that says what is missing. */
  choose(context: ProgramContext): Promise<void>;
}

export interface OptionsContext {
  readonly plan: LaunchPlan;
  readonly block: NamedBlock;
  readonly template: ServiceTemplate;
  /** The text with its placeholders replaced; unknown ones stay. */
  fill(text: string): string;
}

export interface ProgramContext extends OptionsContext {
  /** Whether the plan has the command of the template, not one of the block's own. */
  readonly isTemplates: boolean;
}

/** A step for one kind of service that its template cannot express. */
export interface ServiceConfigure {
  readonly configKey: string;
  /** Throws a Problem that says what is missing. */
  configure(context: SetupContext): Promise<void>;
}

export interface ServiceSetups {
  /**
   * How a block would be launched, with the program and the variables that its template says. Changes nothing. Throws a
   * Problem that says what is missing.
   */
  plan(block: NamedBlock): Promise<LaunchPlan>;
  /**
   * Why a block, which need not be in the configuration yet, cannot be started: an option is missing, or the program
   * is, and cannot be installed. Changes nothing; undefined when nothing is in the way, or the service has no template.
   */
  obstacle(block: NamedBlock): Promise<Problem | undefined>;
  /** Same as `obstacle`, but for the machine as it is now, before anything is installed. */
  missing(block: NamedBlock): Promise<Problem | undefined>;
}

declare module '#core' {
  interface Services {
    /** Tells before a start what stands in its way. */
    'service.setup': ServiceSetups;
  }
  interface Contributions {
    'service.configure': ServiceConfigure;
    /** How one kind of service is launched where that depends on what is installed. */
    'service.program': ServiceProgram;
  }
  interface Hooks {
    /** Called before the search for the program, so that a tap can install it. A throw vetoes the start. */
    'service.install': AsyncSeriesHook<[SetupContext]>;
  }
}
