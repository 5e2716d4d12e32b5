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
  /** Plugins that must be ready before this one. If one of them is missing or failed, this plugin is skipped. */
  readonly needs?: readonly string[];
  /** Plugins that are set up before this one when they are present. */
  readonly after?: readonly string[];
  /**
   * Returns the schema of the plugin's own section of the configuration: `dumb.<name>`, with `-` as `_`. Every member
   * needs a default, so that an absent section is valid. Called once, before each `setup`; a change of the section sets
   * the plugin up anew. Members may carry marks, for example
   * `z.string().default('').meta({ secret: true, writeOnly: true })`: see `GlobalMeta` in config.ts.
   */
  readonly config?: (zod: typeof z) => Schema;
  /**
   * Registers everything within 10 s, and may return a disposer. If it throws, everything it registered is withdrawn.
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

/** Points: lists that plugins add values to, by name. Plugins add their points by declaration merging. */
export interface Contributions {
  /** A section of the configuration: its place below the root and its schema, which has the defaults. */
  'config.schema': ConfigSection;
  /** Keys that named blocks may have. */
  'config.block': BlockKeys;
  /** The default of a named block, for what the file does not set. */
  'config.template': BlockTemplate;
}

/** Services: what one plugin, or the host, provides and others call. Plugins add theirs by declaration merging. */
export interface Services {
  'config.store': ConfigStore;
  'http.entrance': HttpEntrance;
  'http.requests': HttpRequests;
  'log.hub': LogHub;
  /** Decides who may use protected routes and streams. Without it all may, unless users exist (core/http/access.ts). */
  access: AccessCheck;
}

/** Hooks, by name. Plugins add theirs by declaration merging and create them with `host.hook`. */
export interface Hooks {
  /** Before an update of the configuration is accepted: a tap that throws a Problem refuses it. */
  'config.check': AsyncSeriesHook<[ConfigCandidate]>;
  /** After memory, and disk if persisted, hold the new configuration; one change after the other. A tap may update. */
  'config.changed': AsyncParallelHook<[ConfigChange]>;
  /** When `stackwarden check` checks the configuration: a tap adds what would not work. */
  'config.review': AsyncSeriesHook<[ConfigReview]>;
  /** Once the host answers requests. */
  'host.ready': AsyncParallelHook<[]>;
  /** After SIGHUP or a request to reload, when the configuration has been read again: taps rotate their logs. */
  'host.hangup': AsyncParallelHook<[]>;
  /** When the host stops, before anything is disposed of. */
  'host.stopping': AsyncParallelHook<[]>;
  /** After a second signal while the host is stopping: taps end everything at once. Deadline 5 s. */
  'host.forced': AsyncParallelHook<[]>;
}
