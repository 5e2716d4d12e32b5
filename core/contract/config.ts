// The main configuration as plugins see it: its one owner, its named blocks, its changes, and what is added to its schema.
import type { z } from 'zod';

export type ConfigObject = Record<string, unknown>;

/** An object of the configuration, at any depth, that has a `process_name`. */
export interface NamedBlock {
  readonly processName: string;
  /** Path from the root, for example `['sonarr', 'instances', 'Default']`. */
  readonly path: readonly string[];
  /** The root key; for a block inside `dumb`: `dumb_` and its sub-key. */
  readonly configKey: string;
  /** The last path element. */
  readonly key: string;
  /** The entry of this host itself: it is listed like a process, but never started, stopped or sampled. */
  readonly isHost: boolean;
  readonly block: Readonly<ConfigObject>;
}

export interface ConfigChange {
  /** Dotted paths whose effective value changed. */
  readonly paths: readonly string[];
  readonly processName: string | undefined;
  /** `api`, `file` (edited outside) or a plugin's name. */
  readonly actor: string;
  readonly persisted: boolean;
}

export interface ConfigUpdate {
  /** Absent: `updates` is merged into the root. Present: its keys replace those of that block. */
  readonly processName?: string;
  readonly updates: ConfigObject;
  readonly persist: boolean;
  readonly actor: string;
}

export interface ConfigUpdateResult {
  readonly persisted: boolean;
  readonly changed: readonly string[];
  readonly overridden: readonly string[];
  readonly restartRequired: readonly string[];
  readonly warnings: readonly string[];
  readonly revision: string;
}

/** `recovered`: a backup runs in memory; `safe`: defaults run in memory and nothing managed is started. */
export type ConfigState = 'valid' | 'recovered' | 'safe';

export interface ConfigStore {
  /** Effective value; deeply frozen, replaced as a whole by each change. Never touches the disk. */
  root(): Readonly<ConfigObject>;
  /** Effective value at a dotted path or path array; undefined when absent. */
  get(path: string | readonly string[]): unknown;
  /** Parsed through the section's schema, defaults filled in, for example `section(['dumb', 'startup'], schema)`. */
  blocks(): readonly NamedBlock[];
  /** Exact name first, else a unique match ignoring case and runs of white space. */
  findBlock(processName: string): NamedBlock | undefined;
  update(update: ConfigUpdate): Promise<ConfigUpdateResult>;
  /** JSON Schema (draft 7) of the root, with every contributed section. */
  jsonSchema(): ConfigObject;
  /** JSON Schema of one block; undefined when it has none. */
  blockSchema(block: NamedBlock): ConfigObject | undefined;
  readonly state: ConfigState;
  /** Why the state is not `valid`, else null. */
  readonly stateReason: string | null;
  /** Reasons of blocks that are disabled because they do not fit their schema, by process name. */
  readonly disabledBlocks: ReadonlyMap<string, string>;
  readonly file: string;
  readonly revision: string;
  /** The value with every secret replaced by `********`. */
  masked(value: unknown): unknown;
}

export interface ConfigSection {
  /** Path below the root, for example `['dumb', 'startup']`. */
  readonly path: readonly string[];
  readonly schema: z.ZodType;
}

/** The default of one named block. */
export interface BlockTemplate {
  /** Path below the root; `[key, 'instances', name]` is a template for every instance of the key. */
  readonly path: readonly string[];
  /** The block, for an instance that of the given name. */
  block(instance: string): Record<string, unknown>;
  /** What the root key was called once. */
  readonly formerKey?: string;
}

/** What an update would make of the configuration, before it is accepted. */
export interface ConfigCandidate {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  readonly processName: string | undefined;
  readonly persist: boolean;
  /** Sentences for the caller; a tap may add to them. */
  readonly warnings: string[];
}
