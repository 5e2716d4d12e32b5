// The main configuration of one host: defaults, file, environment and memory kept apart, one writer, one queue of changes.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import PQueue from 'p-queue';
import type { z } from 'zod';
import type {
  BlockTemplate,
  ConfigCandidate,
  ConfigChange,
  ConfigObject,
  ConfigSection,
  ConfigState,
  ConfigStore,
  ConfigUpdate,
  ConfigUpdateResult,
  NamedBlock,
} from '../contract/config.ts';
import type { Logger } from '../contract/log.ts';
import { Problem } from '../contract/problem.ts';
import { removeTemporaryFiles, writeFileAtomic } from '../kit/atomic-write.ts';
import { deepFreeze } from '../kit/deep-freeze.ts';
import { duplicateNames, findBlocks, matchBlock } from '../kit/named-blocks.ts';
import { isObject } from '../kit/plain-object.ts';
import { BACKUPS, keepBackup } from './backups.ts';
import { editText } from './edit.ts';
import { type Environment, environmentEdits, openEnvironment } from './environment.ts';
import { type ConfigEdit, changedPaths, editsOf, merge, startsWith, valueAt, withEdit } from './layers.ts';
import { type ConfigText, findConfigFile, parseConfig, readConfigText } from './load.ts';
import { MASK, maskSecrets } from './mask.ts';
import { ConfigSchema, describeIssue, type SchemaIssue } from './schema.ts';
import { watchConfigFile } from './watch.ts';

export interface OpenConfigOptions {
  readonly configDir: string;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
  /** Nothing is created, mended or saved: updates, persisted ones too, change memory alone. Default false. */
  readonly readOnly?: boolean;
}

export interface OpenConfig {
  readonly store: ConfigStore;
  addSection(section: ConfigSection): () => void;
  addBlockSchema(key: string, schema: z.ZodType): () => void;
  addTemplate(template: BlockTemplate): () => void;
  /** Throws a Problem to refuse an update. */
  onCheck(check: (candidate: ConfigCandidate) => Promise<void>): void;
  onChanged(listener: (change: ConfigChange) => Promise<void>): void;
  /** Resolves when every change from now on is noticed. */
  startWatching(): Promise<void>;
  close(): Promise<void>;
}

const FIRST_FILE = 'stackwarden.json';
const WRITE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'no permission to write',
  EPERM: 'no permission to write',
};
/** Accepted on any block, whatever its schema says. */
const SYMLINK_KEYS = ['enabled', 'interval', 'start_time', 'path', 'include_broken', 'retention_count', 'roots'].map(
  key => `symlink_backup_${key}`,
);

export async function openConfig(options: OpenConfigOptions): Promise<OpenConfig> {
  const config = new MainConfig(options);
  await config.load();
  return config;
}

/** Everything that follows from the layers and the schema. */
interface Computed {
  readonly root: Readonly<ConfigObject>;
  readonly blocks: readonly NamedBlock[];
  /** The first block of each name. */
  readonly byName: ReadonlyMap<string, NamedBlock>;
  readonly disabledBlocks: ReadonlyMap<string, string>;
  readonly revision: string;
}

interface Loaded {
  readonly value: ConfigObject;
  readonly state: ConfigState;
  readonly reason: string | null;
}

class MainConfig implements OpenConfig, ConfigStore {
  readonly #options: OpenConfigOptions;
  readonly #schema = new ConfigSchema();
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #environment: Environment;
  #file: string;
  #text: string | null = null;
  /** What stands on the disk but cannot be used: said once. */
  #refusedText: string | undefined;
  #fileValue: ConfigObject = {};
  #overlay: ConfigEdit[] = [];
  #environmentEdits: ConfigEdit[] = [];
  #computed: Computed | undefined;
  #state: ConfigState = 'valid';
  #stateReason: string | null = null;
  readonly #masked = new WeakMap<ConfigObject, unknown>();
  #check: ((candidate: ConfigCandidate) => Promise<void>) | undefined;
  #changed: ((change: ConfigChange) => Promise<void>) | undefined;
  #unwatch: (() => Promise<void>) | undefined;

  constructor(options: OpenConfigOptions) {
    this.#options = options;
    this.#file = path.join(options.configDir, FIRST_FILE);
    this.#environment = openEnvironment(options.configDir, options.env, options.log);
  }

  get store(): ConfigStore {
    return this;
  }

  get state(): ConfigState {
    return this.#state;
  }

  get stateReason(): string | null {
    return this.#stateReason;
  }

  get disabledBlocks(): ReadonlyMap<string, string> {
    return this.#current().disabledBlocks;
  }

  get file(): string {
    return this.#file;
  }

  get revision(): string {
    return this.#current().revision;
  }

  async load(): Promise<void> {
    const { configDir, readOnly = false } = this.#options;
    let found = await findConfigFile(configDir);
    if (found === null && !readOnly) {
      await writeFile(this.#file, '{}\n', { mode: 0o600, flag: 'wx' });
      found = await readConfigText(this.#file);
    }
    if (found === null) {
      this.#computed = undefined;
      return;
    }
    this.#file = found.file;
    this.#text = found.text;
    if (!readOnly) await removeTemporaryFiles(found.file);
    const { value, state, reason } = await this.#parseOrRecover(found);
    this.#fileValue = value;
    this.#state = state;
    this.#stateReason = reason;
    this.#computed = undefined;
    if (state === 'valid' && !readOnly) await keepBackup(found, this.#options.log);
    for (const name of duplicateNames(this.blocks())) {
      this.#options.log.warn(`two entries of ${this.#file} are named '${name}'; the first is used`);
    }
  }

  root(): Readonly<ConfigObject> {
    return this.#current().root;
  }

  get(at: string | readonly string[]): unknown {
    return valueAt(this.root(), typeof at === 'string' ? at.split('.') : at);
  }

  blocks(): readonly NamedBlock[] {
    return this.#current().blocks;
  }

  findBlock(processName: string): NamedBlock | undefined {
    return this.#current().byName.get(processName) ?? matchBlock(this.blocks(), processName);
  }

  masked(value: unknown): unknown {
    // Parts of the configuration are deeply frozen and replaced as a whole, so what was found for one stays true.
    if (!isObject(value) || !Object.isFrozen(value)) return maskSecrets(value);
    const known = this.#masked.get(value);
    if (known !== undefined) return known;
    const masked = maskSecrets(value);
    this.#masked.set(value, masked);
    return masked;
  }

  jsonSchema(): ConfigObject {
    return this.#schema.jsonSchema(this.blocks());
  }

  blockSchema(block: NamedBlock): ConfigObject | undefined {
    return this.#schema.blockJsonSchema(block);
  }

  addSection(section: ConfigSection): () => void {
    return this.#withSchemaChange(this.#schema.addSection(section));
  }

  addBlockSchema(key: string, schema: z.ZodType): () => void {
    return this.#withSchemaChange(this.#schema.addBlock(key, schema));
  }

  addTemplate(template: BlockTemplate): () => void {
    return this.#withSchemaChange(this.#schema.addTemplate(template));
  }

  onCheck(check: (candidate: ConfigCandidate) => Promise<void>): void {
    this.#check = check;
  }

  onChanged(listener: (change: ConfigChange) => Promise<void>): void {
    this.#changed = listener;
  }

  async startWatching(): Promise<void> {
    this.#unwatch ??= await watchConfigFile(
      this.#file,
      this.#options.log,
      () => void this.#queue.add(() => this.#reread()),
    );
  }

  async close(): Promise<void> {
    await this.#unwatch?.();
    await this.#queue.onIdle();
  }

  update(update: ConfigUpdate): Promise<ConfigUpdateResult> {
    return this.#queue.add(() => this.#update(update));
  }

  async #update(update: ConfigUpdate): Promise<ConfigUpdateResult> {
    const { actor } = update;
    const persist = update.persist && this.#options.readOnly !== true;
    if (persist) await this.#takeOverOutsideChanges();
    const block = update.processName === undefined ? undefined : this.findBlock(update.processName);
    if (update.processName !== undefined && block === undefined) throw new Problem(404, 'Process not found');
    const edits = block === undefined ? this.#globalEdits(update.updates) : this.#blockEdits(block, update.updates);

    const written = persist ? edits.filter(edit => !this.#equalsOverride(edit)) : [];
    const fileValue = written.reduce<unknown>(withEdit, this.#fileValue) as ConfigObject;
    const overlay = persist
      ? written.reduce(withoutPath, this.#overlay)
      : [...edits.reduce(withoutPath, this.#overlay), ...edits];
    const after = this.#effective(fileValue, overlay);
    this.#refuseNewIssues(after);
    const warnings: string[] = [];
    await this.#check?.({ before: this.root(), after, processName: block?.processName, persist, warnings });

    if (written.length > 0) await this.#write(written);
    const before = this.root();
    this.#fileValue = fileValue;
    this.#overlay = overlay;
    this.#computed = undefined;
    const changed = changedPaths(before, this.root());
    const overridden = written.filter(edit => this.#overrideOf(edit) !== undefined).map(edit => edit.path.join('.'));
    await this.#announce({ paths: changed, processName: block?.processName, actor, persisted: persist });
    return {
      persisted: persist,
      changed,
      overridden,
      restartRequired: changed.filter(changedPath => needsRestart(changedPath)),
      warnings,
      revision: this.revision,
    };
  }

  /** Before a write the file is read again: what others wrote meanwhile is kept, and a broken file is not touched. */
  async #takeOverOutsideChanges(): Promise<void> {
    let found: ConfigText;
    try {
      found = await readConfigText(this.#file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw new Problem(503, `${path.basename(this.#file)} cannot be read; nothing was changed`, { cause: error });
      }
      found = { file: this.#file, format: this.#file.endsWith('.json') ? 'json' : 'yaml', text: '' };
      this.#text = '';
      return;
    }
    if (found.text === this.#text && this.#state === 'valid') return;
    const value = this.#parseUsable(found);
    if (typeof value === 'string') {
      throw new Problem(409, `the configuration on disk is not valid (${value}); mend it first, nothing was changed`);
    }
    this.#text = found.text;
    this.#fileValue = value;
    this.#state = 'valid';
    this.#stateReason = null;
    this.#computed = undefined;
  }

  async #reread(): Promise<void> {
    const found = await readConfigText(this.#file).catch(() => null);
    if (found === null || found.text === this.#text || found.text === this.#refusedText) return;
    const value = this.#parseUsable(found);
    if (typeof value === 'string') {
      this.#refusedText = found.text;
      this.#options.log.error(`a change of the configuration file is not used: ${value}`);
      return;
    }
    const before = this.root();
    this.#text = found.text;
    this.#fileValue = value;
    this.#state = 'valid';
    this.#stateReason = null;
    this.#computed = undefined;
    const paths = changedPaths(before, this.root());
    if (paths.length > 0) {
      this.#options.log.info(`the configuration file was changed outside: ${paths.length} values`);
      await this.#announce({ paths, processName: undefined, actor: 'file', persisted: true });
    }
  }

  #globalEdits(updates: ConfigObject): ConfigEdit[] {
    const known = this.#schema.rootKeys();
    for (const [key, value] of Object.entries(updates)) {
      if (known.has(key) || Object.hasOwn(this.root(), key) || isProcessBlock(value)) continue;
      throw new Problem(400, `'${key}' is neither a known section nor a process block with process_name and command`);
    }
    return this.#resolve(editsOf(updates));
  }

  #blockEdits(block: NamedBlock, updates: ConfigObject): ConfigEdit[] {
    const schema = this.#schema.blockJsonSchema(block);
    if (schema === undefined)
      throw new Problem(400, `${block.processName} has no schema, so it cannot be changed here`);
    const keys = this.#schema.blockKeys(block);
    for (const [key, value] of Object.entries(updates)) {
      if (!keys.has(key) && !Object.hasOwn(block.block, key) && !SYMLINK_KEYS.includes(key)) {
        throw new Problem(400, `'${key}' is not a key of ${block.processName}`);
      }
      if (key === 'process_name' && value !== block.block.process_name) {
        throw new Problem(400, 'process_name cannot be changed');
      }
    }
    return this.#resolve(Object.entries(updates).map(([key, value]) => ({ path: [...block.path, key], value })));
  }

  /** null deletes, and the mask stands for what is stored. */
  #resolve(edits: readonly ConfigEdit[]): ConfigEdit[] {
    return edits
      .filter(({ value }) => value !== MASK)
      .map(({ path: at, value }) => ({ path: at, value: value === null ? undefined : this.#unmask(value, at) }));
  }

  #unmask(value: unknown, at: readonly string[]): unknown {
    if (value === MASK) return valueAt(this.root(), at);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.#unmask(member, [...at, key])]));
  }

  #overrideOf(edit: ConfigEdit): ConfigEdit | undefined {
    return this.#environmentEdits.find(override => startsWith(override.path, edit.path));
  }

  /** A submitted value that equals what the environment gives is no wish to store it. */
  #equalsOverride(edit: ConfigEdit): boolean {
    return (
      this.#overrideOf(edit) !== undefined && changedPaths(valueAt(this.root(), edit.path), edit.value).length === 0
    );
  }

  #refuseNewIssues(after: Readonly<ConfigObject>): void {
    const before = new Set(this.#allIssues(this.root()).map(describeIssue));
    const [issue] = this.#allIssues(after).filter(candidate => !before.has(describeIssue(candidate)));
    if (issue !== undefined) throw new Problem(400, describeIssue(issue));
    const [twice] = duplicateNames(findBlocks(after)).filter(name => !duplicateNames(this.blocks()).includes(name));
    if (twice !== undefined) throw new Problem(400, `the process_name '${twice}' is already in use`);
  }

  #allIssues(root: Readonly<ConfigObject>): SchemaIssue[] {
    return [...this.#schema.issues(root), ...findBlocks(root).flatMap(block => this.#schema.blockIssues(block))];
  }

  async #write(edits: readonly ConfigEdit[]): Promise<void> {
    const format = this.#file.endsWith('.json') ? 'json' : 'yaml';
    const text = editText(this.#text ?? '', format, edits);
    if (text === this.#text) return;
    try {
      await writeFileAtomic(this.#file, text, { mode: 0o600 });
    } catch (error) {
      const { code = 'write error' } = error as NodeJS.ErrnoException;
      const reason = WRITE_FAULTS[code] ?? code;
      throw new Problem(503, `the configuration cannot be saved (${reason}); nothing was changed`, { cause: error });
    }
    this.#text = text;
  }

  #effective(fileValue: ConfigObject, overlay: readonly ConfigEdit[]): ConfigObject {
    const merged = merge(this.#schema.defaults(fileValue), fileValue);
    this.#environmentEdits = environmentEdits(merged, this.#environment, this.#schema.formerKeys(), this.#options.log);
    return [...this.#environmentEdits, ...overlay].reduce<unknown>(withEdit, merged) as ConfigObject;
  }

  /** Computed when it is asked for: plugins add many things one after the other. */
  #current(): Computed {
    this.#computed ??= this.#compute();
    return this.#computed;
  }

  #compute(): Computed {
    let root = this.#effective(this.#fileValue, this.#overlay);
    const disabled = new Map<string, string>();
    for (const block of findBlocks(root)) {
      const [issue] = this.#schema.blockIssues(block);
      if (issue === undefined) continue;
      disabled.set(block.processName, describeIssue(issue));
      root = withEdit(root, { path: [...block.path, 'enabled'], value: false }) as ConfigObject;
    }
    const blocks = findBlocks(root);
    return {
      root: deepFreeze(root),
      blocks,
      byName: new Map(blocks.toReversed().map(block => [block.processName, block])),
      disabledBlocks: disabled,
      revision: createHash('sha256').update(JSON.stringify(root)).digest('hex').slice(0, 16),
    };
  }

  #withSchemaChange(withdraw: () => void): () => void {
    this.#computed = undefined;
    return () => {
      withdraw();
      this.#computed = undefined;
    };
  }

  async #announce(change: ConfigChange): Promise<void> {
    if (change.paths.length > 0) await this.#changed?.(change);
  }

  /** The value, or why it cannot be used. */
  #parseUsable(found: ConfigText): ConfigObject | string {
    try {
      const value = parseConfig(found);
      const [issue] = this.#schema.fatalIssues(merge(this.#schema.defaults(value), value) as ConfigObject);
      return issue === undefined ? value : `${found.file}: ${describeIssue(issue)}`;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #parseOrRecover(found: ConfigText): Promise<Loaded> {
    const value = this.#parseUsable(found);
    if (typeof value !== 'string') return { value, state: 'valid', reason: null };
    for (const suffix of BACKUPS) {
      const text = await readFile(found.file + suffix, 'utf8').catch(() => null);
      const backup = text === null ? 'absent' : this.#parseUsable({ ...found, text });
      if (typeof backup === 'string') continue;
      this.#options.log.error(
        `${value}; running with ${path.basename(found.file)}${suffix}, and nothing is saved until it is mended`,
      );
      return { value: backup, state: 'recovered', reason: value };
    }
    this.#options.log.error(`${value}; no managed process is started until it is mended`);
    return { value: {}, state: 'safe', reason: value };
  }
}

function isProcessBlock(value: unknown): boolean {
  return isObject(value) && typeof value.process_name === 'string' && value.command !== undefined;
}

/** Overlay edits at or below the path are superseded; edits above it keep their value with the path taken out. */
function withoutPath(overlay: readonly ConfigEdit[], { path: at }: ConfigEdit): ConfigEdit[] {
  return overlay
    .filter(edit => !startsWith(edit.path, at))
    .map(edit =>
      startsWith(at, edit.path) && isObject(edit.value)
        ? { path: edit.path, value: withEdit(edit.value, { path: at.slice(edit.path.length), value: undefined }) }
        : edit,
    );
}

/** The API listener's address acts at the next start; so does the place of the log. */
function needsRestart(changedPath: string): boolean {
  return /^dumb\.(?:api_service\.(?:host|port|enabled)|log_dir|log_name)$/.test(changedPath);
}
