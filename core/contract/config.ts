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
  /** What schemas of the configuration say of a member, by `.meta({ ... })`. */
  interface GlobalMeta {
    /**
     * Masked in answers that only show values, and left out of what relations are read from. `false` overrules the
     * name.
     */
    secret?: boolean;
    /**
     * A secret that no answer contains: it is shown blank with `<key>_configured` beside it, and kept when it is sent
     * blank.
     */
    writeOnly?: boolean;
    /** Whether a change takes effect at once. Default: false inside the block of a service, true everywhere else. */
    live?: boolean;
    /** Marks the member by which the objects of a list are told apart, so that each keeps its own secrets. */
    identity?: boolean;
    /** Whether an object of a list keeps the member when it is sent without it, as by clients that do not know it. */
    kept?: boolean;
    /**
     * Whether the default, or none, may stand in for a value that does not fit. Default: false for keys of blocks,
     * whose service is disabled then, and true for members of sections; no service is started where one of those says
     * false.
     */
    fallback?: boolean;
    /**
     * Whether nobody changes the member through the API before he has logged in, because it decides where the host
     * reads, writes or loads something with its own rights, or whose rights services have. `false` says of a path that
     * its area itself looks where it leads.
     */
    needsLogin?: boolean;
    /**
     * Of an object: whether what no schema describes in it is masked in every answer, because only the plugin that is
     * missing could tell what in it is secret.
     */
    masksUnknown?: boolean;
    /**
     * Of a key of blocks, or anything inside it: whether it decides which program runs, as whom, or what that is given.
     * Where a service has a user of its own, nobody changes it through the API before he has logged in. `files`: so do
     * the files that its texts name, from the configuration directory on, which nobody changes before that either.
     * Default false.
     */
    decidesProgram?: boolean | 'files';
    /** Of a key of blocks: what relations between services are read from it. Default: nothing. */
    relation?: RelationMark;
  }
}

/**
 * A `port` that the service listens on, or a list of them; an `address` that it waits for, or another `wait`, of which
 * answers have neither credentials nor anything else that names no service; what is `shown` as it stands; or what is
 * only `read`, and in no answer.
 */
export type RelationMark = 'port' | 'address' | 'wait' | 'shown' | 'read';

/** What the schemas of a block say of its keys for those who look at all blocks. */
export interface BlockMarks {
  /** The keys that are, or hold, what is marked `decidesProgram`. */
  readonly decidesProgram: readonly string[];
  /** Those of them whose texts name files that decide it. */
  readonly programFiles: readonly string[];
  /** By key. */
  readonly relations: ReadonlyMap<string, RelationMark>;
}

export interface ConfigChange {
  /** Dotted paths of the members whose effective value changed. */
  readonly paths: readonly string[];
  /** Process to whose block the update was limited; undefined for a change of the root. */
  readonly processName: string | undefined;
  /**
   * The user, `api` where authentication is off, `file` for changes of the file by others, `plugins` for blocks that
   * are there because plugins came, or a plugin's name.
   */
  readonly actor: string;
  /** Whether the change is on disk, not only in memory. */
  readonly persisted: boolean;
}

export interface ConfigUpdate {
  /** With a name, the keys of `updates` replace those of that block; without one, `updates` is merged into the root. */
  readonly processName?: string;
  readonly updates: ConfigObject;
  /** False changes the memory only. */
  readonly persist: boolean;
  /**
   * Members of the file that get another name or place before the rest is made, with the comments in them, whatever
   * `processName` says; `to` is as deep as `from`. One that the file does not have is passed over.
   */
  readonly moves?: readonly { readonly from: readonly string[]; readonly to: readonly string[] }[];
  /**
   * Whether sections, and names and whole blocks of processes, may be taken away, as a migration does. Default false.
   */
  readonly mayRemove?: boolean;
  /** Whether the caller may be anybody, who then changes nothing that `needsLogin`. Default false. */
  readonly byAnybody?: boolean;
  /** Whether it is only checked, as if it were made, and nothing changes. Default false. */
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

/** What a look through the configuration has found, one line each. */
export interface ConfigReview {
  /** What does not work as it stands: its place, what is wrong, and what to do. */
  readonly problems: string[];
  /** What has no effect, and may be meant so. */
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
 * `valid`: the file is in use. `recovered`: a backup of it is in use, in memory. `safe`: no service is started, because
 * the file cannot be read and the defaults are in use, or because a value without which none can be does not fit.
 */
export type ConfigState = 'valid' | 'recovered' | 'safe';

/** A block that is one only by what a plugin gives to it. */
export interface GivenBlock {
  readonly plugin: string;
  readonly path: readonly string[];
  /** Whether the file holds anything at the path. A block that is taken out of it is none any more. */
  readonly isInFile: boolean;
}

/** The main configuration: read from memory, changed through one queue of updates. */
export interface ConfigStore {
  /** The effective configuration. It is deeply frozen and replaced as a whole by each change. Never reads the disk. */
  root(): Readonly<ConfigObject>;
  /** The effective value at a dotted path or a list of keys; undefined when there is none. */
  get(path: string | readonly string[]): unknown;
  /** All named blocks in document order; of several with the same name the first. */
  blocks(): readonly NamedBlock[];
  /** The block with exactly this process name, else the only one whose name differs in case or white space alone. */
  findBlock(processName: string): NamedBlock | undefined;
  /**
   * Whether the block with exactly this name stays one when the plugin goes that made it one, because its process runs.
   * While it stays so, `disabledBlocks` says why its process cannot be started again.
   */
  keepBlock(processName: string, isKept: boolean): void;
  /** Who makes the block with exactly this name one; undefined where no plugin does, or not alone. */
  givenBlock(processName: string): GivenBlock | undefined;
  /**
   * Makes what an earlier host had by `givenBlock` a block again, of these members: its plugin is gone, and its process
   * runs. From now on it is one that `keepBlock` keeps. Says whether there is such a block now.
   */
  regainBlock(processName: string, given: GivenBlock, members: Readonly<ConfigObject>): boolean;
  /**
   * Changes the configuration. null deletes a member, and a mask or a blank write-only secret stands for what is
   * stored. Resolves when memory, and the disk if `persist`, hold the change and every `config.changed` tap has run. A
   * tap may update too: its update resolves without waiting for taps, which are told after the change that they answer.
   * Updates that answer each other's announcements without end are refused. A tap of `config.check` must not update.
   */
  update(update: ConfigUpdate): Promise<ConfigUpdateResult>;
  /** JSON Schema (draft 7) of the root, with every contributed section. */
  jsonSchema(): ConfigObject;
  /** JSON Schema (draft 7) of one block; undefined when no plugin contributes one. */
  blockSchema(block: NamedBlock): ConfigObject | undefined;
  /** The same object for blocks of one kind as long as the contributed schemas stay the same. */
  blockMarks(block: Pick<NamedBlock, 'configKey'>): BlockMarks;
  readonly state: ConfigState;
  /** Why the state is not `valid`, else null. */
  readonly stateReason: string | null;
  /**
   * Why the file as others have changed it is not in use, while the state is `valid`: what it held before counts until
   * it is mended, and nothing is saved. Else null.
   */
  readonly unusedReason: string | null;
  /**
   * Names of the environment variables that stand in place of a member of a section or block. Those of the root, such
   * as TZ, are meant for every program.
   */
  overridingVariables(): readonly string[];
  /** The values that do not fit. Each concerns nothing but itself: a default stands in, or its service is disabled. */
  readonly problems: readonly ConfigProblem[];
  /**
   * Reasons of blocks that are disabled because they do not fit their schema, or that are kept without their plugin, by
   * process name.
   */
  readonly disabledBlocks: ReadonlyMap<string, string>;
  /**
   * The value at a path as the file itself holds it, without defaults, environment and memory; for changes of the
   * file's form.
   */
  stored(path: readonly string[]): unknown;
  /** Path of the main configuration file. */
  readonly file: string;
  /** A hash of the effective configuration. */
  readonly revision: string;
  /**
   * The value at a path as answers hold it: without write-only secrets and, with `mask_secrets`, with the others
   * masked.
   */
  shown(path: readonly string[]): unknown;
  /** Same as `shown`, but every secret is replaced by `********` whatever the setting. */
  masked(path: readonly string[]): unknown;
  /** The value at a path with its secret members left out: that of an earlier `root()` where one is given. */
  withoutSecrets(path: readonly string[], root?: Readonly<Record<string, unknown>>): unknown;
}

/** Keys of named blocks. Several plugins may contribute keys to the same blocks; a block must fit every schema. */
export interface BlockKeys {
  /** Without defaults, because an editor would write them into the block; its members may carry marks. */
  readonly schema: z.ZodType;
  /** Config keys of the blocks that have these keys. Absent: every block. */
  readonly appliesTo?: readonly string[];
  /**
   * Whether the schema gives `decidesProgram` and `relation` to keys that mean something where a block has them, and
   * nothing else: editors do not offer these keys, and no value is checked. Default false.
   */
  readonly marksOnly?: boolean;
  /**
   * What each of these blocks holds where neither the file nor a template says it, in the order of the blocks. It is
   * shown, and never written to the file. Asked whenever the configuration changes.
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
   * The JSON Schema of the section with what is known at run time alone, such as the values that other plugins give a
   * meaning. `made` is the one of `schema`, and stays as it is. Asked at each listing.
   */
  jsonSchema?(made: Readonly<ConfigObject>): ConfigObject;
}

/** The default of one named block. */
export interface BlockTemplate {
  /** Path below the root; `[key, 'instances', name]` is a template for every instance of the key. */
  readonly path: readonly string[];
  /** The default block; for a template of instances, the one of the instance with this name. */
  block(instance: string): Record<string, unknown>;
  /** Earlier path of the block, or of what has its instances; environment variables of that name still apply. */
  readonly formerPath?: readonly string[];
}

/** The configuration that an update would lead to, before it is accepted. */
export interface ConfigCandidate {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  readonly processName: string | undefined;
  readonly persist: boolean;
  /** Sentences for the caller; a tap may add to them. */
  readonly warnings: string[];
}
