// The options with which a host is started, and the interface by which its starter controls it.
import type { ConfigReview } from '../contract/config.ts';
import type { PluginReport } from '../contract/host.ts';
import type { Logger } from '../contract/log.ts';
import type { PluginDeadlines } from './plugin-set.ts';

/** The phases of a host: it answers requests, reads its configuration again, or takes everything down. */
export type HostPhase = 'running' | 'reloading' | 'stopping';

export interface HostOptions {
  readonly configDir: string;
  /** Whether the host's own log lines also go to standard output. Default false. */
  readonly stdout?: boolean;
  /** Loads only these plugins and ignores `dumb.plugins.enabled`. */
  readonly plugins?: readonly string[];
  /** Directories of plugin folders. Default: the product's, `{config_dir}/plugins`, then `dumb.plugins.dirs`. */
  readonly pluginDirs?: readonly string[];
  /** Overrides `dumb.api_service`; port 0 takes any free port. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  readonly deadlines?: Partial<PluginDeadlines>;
  /** Pauses before a failed required plugin is set up again; after the last one the host ends with exit code 70. */
  readonly recoveryPausesMs?: readonly number[];
  /** Receives the host before anything is loaded, so that a stop works from the beginning. */
  readonly onCreated?: (host: StackwardenHost) => void;
  /** Called at the beginning of each phase; `running` comes again after each reload. */
  readonly onPhase?: (phase: HostPhase, host: StackwardenHost) => void;
  /**
   * Factor for the product's own waiting times: with 0.1 a test sees in 0.2 s what takes 2 s otherwise. Deadlines and
   * configured times do not change. Default 1.
   */
  readonly pace?: number;
  /**
   * Whether this host handles uncaught errors of the process. Default true; false where several hosts share a process.
   */
  readonly ownsProcess?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  /**
   * Loads the configuration and sets the plugins up, but does not listen, watch or write. File changes that a plugin
   * makes itself are prevented only in a process without write permission (see core/cli/read-only.ts).
   */
  readonly dryRun?: boolean;
  /**
   * Whether an answer that does not fit its route's response schema becomes a 500, for tests. Default: whether
   * STACKWARDEN_CHECK_ANSWERS is set.
   */
  readonly checkAnswers?: boolean;
}

export interface StackwardenHost {
  /** The address of the listener; null when the API is switched off. */
  readonly address: { readonly host: string; readonly port: number } | null;
  readonly log: Logger;
  readonly configFile: string;
  plugins(): readonly PluginReport[];
  /** Checks the configuration. Plugins take part, and check the programs and paths that it names. */
  reviewConfig(): Promise<ConfigReview>;
  /**
   * Stops everything and always returns the same promise. With `fault`, managed processes keep running for the next
   * start to adopt.
   */
  stop(cause?: 'request' | 'fault'): Promise<void>;
  /** Reads the configuration file again and rotates the logs, after SIGHUP. */
  reload(): Promise<void>;
  /** Ends managed processes at once, after a second signal. */
  force(): Promise<void>;
  /** Resolves with the exit code when the host has stopped. */
  readonly stopped: Promise<number>;
}
