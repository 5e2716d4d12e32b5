// The main configuration as plugins see it: the store that owns it, its named blocks, its changes and its schema.
import type { z } from 'zod';

export type ConfigObject = Record<string, unknown>;

/** An object of the configuration, at any depth, that has a `process_name`. */
export interface NamedBlock {
  readonly processName: string;
  /** Path from the root, for example `['finder', 'instances', 'Default']`. */
  readonly path: readonly string[];
  /** The root key, for example `server`; for a block inside `dumb`, `dumb_` and the key of the block. */
  readonly configKey: string;
  /** The last path element. */
  readonly key: string;
  /** The entry of this host itself: it is listed like a process, but never started, stopped or sampled. */
  readonly isHost: boolean;
  readonly block: Readonly<ConfigObject>;
}

declare module 'zod' {
  /** Marks: what a schema of the configuration says about a member, by `.meta({ ... })`. */
  interface GlobalMeta {
    /**
     * Whether the member is a secret: masked in answers that only show values, and never read for relations. Default:
     * true inside a secret member and where the name looks like that of a secret. `false` overrules both.
     */
    secret?: boolean;
    /**
     * Whether the member is a secret that no answer contains: it is shown blank with `<key>_configured` beside it, and
     * a blank value in an update keeps it.
     */
    writeOnly?: boolean;
    /** Whether a change takes effect at once. Default: false inside the block of a service, true everywhere else. */
    live?: boolean;
    /**
     * Marks the member by which the objects of a list are told apart, so that each keeps its own secrets. Addresses are
     * the same with and without a slash at the end.
     */
    identity?: boolean;
    /** Whether an object of a list keeps the member when an update lacks it, because the client does not know it. */
    kept?: boolean;
    /**
     * Whether the default, or no value, may replace a value that does not fit. Default: true for members of sections,
     * false for keys of blocks. A key of a block without a replacement disables its service; a member of a section
     * without one keeps every service from starting.
     */
    fallback?: boolean;
    /**
     * Whether the member can be changed through the API only after a login, because it decides where the host reads,
     * writes or loads something with its own rights, or whose rights services have. `false` marks a path that the
     * plugin which uses it checks itself, at each use.
     */
    needsLogin?: boolean;
    /**
     * For an object: whether members that no schema describes are masked in every answer, because only the missing
     * plugin could tell which of them are secret.
     */
    masksUnknown?: boolean;
    /**
     * For a key of blocks, or anything inside it: whether it decides which program runs, as which user, or with which
     * input. Where a service has a user of its own, the key can be changed through the API only after a login. `files`:
     * the same holds for the files that its texts name; relative paths start from the configuration directory. Default
     * false.
     */
    decidesProgram?: boolean | 'files';
    /** For a key of blocks: which relations between services are read from it. Default: none. */
    relation?: RelationMark;
  }
}

/**
 * What a key of a block says about relations between services:
 * `port`: a port that the service listens on, or a list of them;
 * `address`: the address of a service that it waits for;
 * `wait`: anything else that names a service that it waits for;
 * `shown`: read for relations, and in answers as it stands;
 * `read`: read for relations only, and in no answer.
 * Of an `address` and a `wait`, answers hold only what names services, and no credentials.
 */
export type RelationMark = 'port' | 'address' | 'wait' | 'shown' | 'read';

/** The marks of the keys of a block, from all schemas of the block together. */
export interface BlockMarks {
  /** Keys that are marked `decidesProgram`, or hold a member that is. */
  readonly decidesProgram: readonly string[];
  /** Keys that are marked `decidesProgram: 'files'`, or hold a member that is. */
  readonly programFiles: readonly string[];
  /** The `relation` of each key that has one. */
  readonly relations: ReadonlyMap<string, RelationMark>;
}

export interface ConfigChange {
  /** Dotted paths of the members whose effective value changed. */
  readonly paths: readonly string[];
  /** The process whose block alone was updated; undefined for a change of the root. */
  readonly processName: string | undefined;
  /**
   * Who made the change: a user's name, a plugin's name, `api` while authentication is off, `file` when the file was
   * changed outside of the host, or `plugins` for blocks that newly loaded plugins added.
   */
  readonly actor: string;
  /** Whether the change is on disk, not only in memory. */
  readonly persisted: boolean;
}

export interface ConfigUpdate {
  /** The block whose keys `updates` replaces. Without a name, `updates` is merged into the root. */
  readonly processName?: string;
  /**
   * A function is called once this update is the only one, so that what it derives from present values, such as a list
   * with one entry more, undoes no other update. It may throw a Problem to refuse the update.
   */
  readonly updates: ConfigObject | (() => ConfigObject);
  /** False changes the memory only. */
  readonly persist: boolean;
  /**
   * Members of the file that are renamed or moved, with their comments, before `updates` is applied. Both paths start
   * at the root, even with a `processName`, and `to` is as deep as `from`. Members that the file lacks are skipped.
   */
  readonly moves?: readonly { readonly from: readonly string[]; readonly to: readonly string[] }[];
  /** Whether the update may remove sections, whole blocks and process names, as a migration does. Default false. */
  readonly mayRemove?: boolean;
  /** Whether the caller has shown no credentials, and so may not change members that `needsLogin`. Default false. */
  readonly byAnybody?: boolean;
  /** Whether the update is only checked, and changes nothing. Default false. */
  readonly trial?: boolean;
  /** User or plugin that asks for the update, for the log. */
  readonly actor: string;
}

export interface ConfigUpdateResult {
  readonly persisted: boolean;
  /** Dotted paths whose effective value changed. */
  readonly changed: readonly string[];
  /** Dotted paths that were written, but on which an environment variable still wins. */
  readonly overridden: readonly string[];
  /** Those of `changed` that do not take effect at once, whether or not the process concerned runs. */
  readonly restartRequired: readonly string[];
  readonly warnings: readonly string[];
  readonly revision: string;
}

/** What a check of the configuration has found, one line each. */
export interface ConfigReview {
  /** What does not work: where it stands, what is wrong, and what to do. */
  readonly problems: string[];
  /** What has no effect, which may be intended. */
  readonly notes: string[];
}

/** A value of the file or the environment that does not fit its schema. */
export interface ConfigProblem {
  /** Dotted path of the value. */
  readonly path: string;
  /** The process whose block holds the value. */
  readonly processName: string | undefined;
  /** One sentence that says where the value stands, what follows from it and how to mend it, but not the value. */
  readonly message: string;
}

/**
 * `valid`: the file is in use. `recovered`: a backup of the file is in use, in memory. `safe`: no service is started,
 * because the file cannot be read and the defaults are in use, or because a value that has no replacement does not fit
 * (see `GlobalMeta.fallback`).
 */
export type ConfigState = 'valid' | 'recovered' | 'safe';

/** A block whose `process_name` comes from a plugin's default or template, not from the file. */
export interface GivenBlock {
  readonly plugin: string;
  readonly path: readonly string[];
  /** Whether the file holds anything at the path. If so, removing it from the file removes the block. */
  readonly isInFile: boolean;
}

/** The main configuration: read from memory, changed through one queue of updates. */
export interface ConfigStore {
  /** The effective configuration. It is deeply frozen and replaced as a whole by each change. Never reads the disk. */
  root(): Readonly<ConfigObject>;
  /** The effective value at a dotted path or a list of keys; undefined when there is none. */
  get(path: string | readonly string[]): unknown;
  /** All named blocks in document order; only the first of several with the same name. */
  blocks(): readonly NamedBlock[];
  /** The block with exactly this process name, else the only one whose name differs in case or white space alone. */
  findBlock(processName: string): NamedBlock | undefined;
  /**
   * Sets whether the block with exactly this name remains when the plugin that gave it is withdrawn, because its
   * process runs. While it remains, `disabledBlocks` says why its process cannot be started again.
   */
  keepBlock(processName: string, isKept: boolean): void;
  /** The plugin that gives the block with exactly this name; undefined when the file names the block, or no plugin. */
  givenBlock(processName: string): GivenBlock | undefined;
  /**
   * Restores a block whose process still runs, but whose plugin is gone since an earlier host: `given` is what
   * `givenBlock` returned there, `members` what the block held. The block is then kept as by `keepBlock`. Returns
   * whether the block exists now.
   */
  regainBlock(processName: string, given: GivenBlock, members: Readonly<ConfigObject>): boolean;
  /**
   * Changes the configuration. null deletes a member; a mask, or a blank write-only secret, keeps the stored value.
   * Resolves when memory, and the disk if `persist`, hold the change and every `config.changed` tap has run. A tap of
   * `config.changed` may update too: its update resolves without waiting for the taps, which hear of it after the
   * present change. Taps that answer each other's updates without end are refused. A tap of `config.check` must not
   * update.
   */
  update(update: ConfigUpdate): Promise<ConfigUpdateResult>;
  /**
   * Resolves when every `config.changed` tap has run for all changes so far, and for those that taps have made. A tap
   * must not wait for it.
   */
  announced(): Promise<void>;
  /** JSON Schema (draft 7) of the root, with every contributed section. */
  jsonSchema(): ConfigObject;
  /** JSON Schema (draft 7) of one block; undefined when no plugin contributes one. */
  blockSchema(block: NamedBlock): ConfigObject | undefined;
  /** Returns the same object for all blocks with the same `configKey` until the contributed schemas change. */
  blockMarks(block: Pick<NamedBlock, 'configKey'>): BlockMarks;
  readonly state: ConfigState;
  /** Why the state is not `valid`, else null. */
  readonly stateReason: string | null;
  /**
   * Why an outside change of the file is not in use although the state is `valid`; else null. Until the file is mended,
   * its earlier content stays in use and nothing is saved.
   */
  readonly unusedReason: string | null;
  /**
   * Names of the environment variables that override a member of a section or block. Variables that override members of
   * the root, such as TZ, are not listed, because they are meant for every program.
   */
  overridingVariables(): readonly string[];
  /** The values that do not fit their schema. Each is replaced by its default, or disables its service. */
  readonly problems: readonly ConfigProblem[];
  /** Why blocks are disabled, by process name: a block does not fit its schema, or is kept without its plugin. */
  readonly disabledBlocks: ReadonlyMap<string, string>;
  /**
   * The value at a path as the file itself holds it, without defaults, environment variables and changes in memory; for
   * migrations of the file.
   */
  stored(path: readonly string[]): unknown;
  /** Path of the main configuration file. */
  readonly file: string;
  /** A hash of the effective configuration. */
  readonly revision: string;
  /**
   * The value at a path as answers hold it: without write-only secrets and, while `dumb.api_service.mask_secrets` is
   * on, with all other secrets masked.
   */
  shown(path: readonly string[]): unknown;
  /** Same as `shown`, but every secret is replaced by `********` even while `mask_secrets` is off. */
  masked(path: readonly string[]): unknown;
  /** The value at a path without its secret members; read from `root`, an earlier `root()`, if it is given. */
  withoutSecrets(path: readonly string[], root?: Readonly<Record<string, unknown>>): unknown;
}

/** Keys of named blocks. Several plugins may contribute keys to the same blocks; a block must fit every schema. */
export interface BlockKeys {
  /** A schema without defaults, because an editor would write them into the block. Its members may carry marks. */
  readonly schema: z.ZodType;
  /** Config keys of the blocks that have these keys. Absent: every block. */
  readonly appliesTo?: readonly string[];
  /**
   * Whether the schema does nothing but give the marks `decidesProgram` and `relation` to its keys: editors do not
   * offer these keys, and their values are not checked. Default false.
   */
  readonly marksOnly?: boolean;
  /**
   * The default of each of these blocks, in the order of the blocks, for keys that neither the file nor a template
   * sets. Defaults are shown, but never written to the file. Called whenever the configuration changes.
   */
  defaults?(blocks: readonly NamedBlock[]): readonly ConfigObject[];
}

/** A part of the configuration. Several plugins may describe members of one object, each member only one. */
export interface ConfigSection {
  /** Path below the root, for example `['dumb', 'startup']`. */
  readonly path: readonly string[];
  /** Schema of an object; every member has a default or is optional, and may carry marks. */
  readonly schema: z.ZodType;
  /**
   * Returns the JSON Schema of the section with what is known only at run time, such as allowed values that depend on
   * other plugins. `made` is the JSON Schema of `schema`, and must not be changed. Called at each listing.
   */
  jsonSchema?(made: Readonly<ConfigObject>): ConfigObject;
}

/** The default of one named block. */
export interface BlockTemplate {
  /** Path below the root; `[key, 'instances', name]` is a template for every instance of the key. */
  readonly path: readonly string[];
  /** Returns the default block; for a template of instances, that of the instance with this name. */
  block(instance: string): Record<string, unknown>;
  /** Earlier path of the block, or of the parent of its instances; environment variables named after it still apply. */
  readonly formerPath?: readonly string[];
}

/** The configuration before and after an update that is not accepted yet. */
export interface ConfigCandidate {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  readonly processName: string | undefined;
  readonly persist: boolean;
  /** Sentences for the caller; a tap may add to them. */
  readonly warnings: string[];
}
