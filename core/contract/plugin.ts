// The contract of plugins, imported as `#core`: what a plugin is, and the interfaces that plugins extend.

import type { AsyncParallelHook, AsyncSeriesHook } from 'tapable';
import type { z } from 'zod';
import type {
  BlockKeys,
  BlockTemplate,
  ConfigCandidate,
  ConfigChange,
  ConfigReview,
  ConfigSection,
  ConfigStore,
} from './config.ts';
import type { Disposer } from './disposer.ts';
import type { Host } from './host.ts';
import type { LogHub } from './log.ts';
import type { AccessCheck, HttpEntrance, HttpRequests } from './route.ts';

export type * from './command.ts';
export type * from './config.ts';
export type * from './database.ts';
export type * from './disposer.ts';
export type * from './event.ts';
export type * from './fetch.ts';
export type * from './host.ts';
export type * from './job.ts';
export type * from './log.ts';
export { Problem } from './problem.ts';
export * from './route.ts';
export type * from './stream.ts';

/** A plugin is one folder whose name is its id, with an index file whose default export is this object. */
export interface Plugin<Schema extends z.ZodType = z.ZodType> {
  /** The plugin's id, equal to the name of its folder. */
  readonly name: string;
  readonly version?: string;
  /** Semver range of the contract this plugin was written for, for example `^1`. */
  readonly host: string;
  /** Plugins that must be ready before this one; if one is absent or failed, this one is skipped. */
  readonly needs?: readonly string[];
  /** Plugins that are set up before this one when they are present. */
  readonly after?: readonly string[];
  /**
   * Schema of the plugin's own section, `dumb.<name>` of the configuration with `-` as `_`. Every member needs a
   * default, so that an absent section is valid. Called once, before `setup`; a change of the section sets the plugin up
   * anew. Members say more by marks, for example
   * `z.string().default('').meta({ secret: true, writeOnly: true })`: see `GlobalMeta` in config.ts.
   */
  readonly config?: (zod: typeof z) => Schema;
  /**
   * Registers everything, within 10 s, and may return a disposer. A throw withdraws all that was registered before it.
   */
  setup(
    host: Host,
    config: z.output<Schema>,
  ): undefined | Disposer | Promise<undefined | Disposer> | void | Promise<void>;
}

/** Returns the plugin unchanged; TypeScript infers the type of `config` from the schema. */
export function definePlugin<Schema extends z.ZodType>(plugin: Plugin<Schema>): Plugin<Schema> {
  return plugin;
}

/** Things of a kind that can be listed. Owners add their kinds by declaration merging. */
export interface Contributions {
  /** A part of the configuration: its place below the root and its schema. Defaults come from the schema. */
  'config.schema': ConfigSection;
  /** Keys that named blocks may have. */
  'config.block': BlockKeys;
  /** What a named block holds where the file says nothing. */
  'config.template': BlockTemplate;
}

/** One implementation of a thing that others call. Owners add theirs by declaration merging. */
export interface Services {
  'config.store': ConfigStore;
  'http.entrance': HttpEntrance;
  'http.requests': HttpRequests;
  'log.hub': LogHub;
  /** Decides about every protected request and stream. Absent: open, unless users exist (see core/http/access.ts). */
  access: AccessCheck;
}

/** Moments in a flow. Owners add theirs by declaration merging and create them with `host.hook`. */
export interface Hooks {
  /** Before an update of the configuration is accepted: a tap that throws a Problem refuses it. */
  'config.check': AsyncSeriesHook<[ConfigCandidate]>;
  /** After memory, and disk if persisted, hold the new configuration; one change after the other. A tap may update. */
  'config.changed': AsyncParallelHook<[ConfigChange]>;
  /** When `stackwarden check` looks through the configuration: a tap adds what would not work. */
  'config.review': AsyncSeriesHook<[ConfigReview]>;
  /** After the listener answers. */
  'host.ready': AsyncParallelHook<[]>;
  /** After SIGHUP or a request to reload, when the configuration has been read again: logs are rotated. */
  'host.hangup': AsyncParallelHook<[]>;
  /** Before anything is disposed. */
  'host.stopping': AsyncParallelHook<[]>;
  /** After a second signal while the host is stopping: taps end everything at once. Deadline 5 s. */
  'host.forced': AsyncParallelHook<[]>;
}
