// Opens the main configuration of one host as a store, assembled from the parts that hold, change and announce it.
import type {
  BlockKeys,
  BlockMarks,
  BlockTemplate,
  ConfigCandidate,
  ConfigChange,
  ConfigObject,
  ConfigProblem,
  ConfigReview,
  ConfigSection,
  ConfigState,
  ConfigStore,
  ConfigUpdate,
  ConfigUpdateResult,
  GivenBlock,
  NamedBlock,
} from '../contract/config.ts';
import type { Logger } from '../contract/log.ts';
import { matchBlock } from '../kit/named-blocks.ts';
import type { Owner } from '../kit/owner.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { Announcements } from './announcements.ts';
import { CurrentConfig, type Effective } from './current.ts';
import { type Environment, openEnvironment } from './environment.ts';
import type { ConfigPath } from './layers.ts';
import { MainFile } from './main-file.ts';
import type { Place } from './marks.ts';
import { reviewConfig } from './review.ts';
import { ConfigSchema } from './schema.ts';
import { shownValue, valueWithoutSecrets } from './secrets.ts';
import { Updates } from './update.ts';
import { watchConfigFile } from './watch.ts';

export interface OpenConfigOptions {
  readonly configDir: string;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
  /** Whether nothing may be created, copied, removed or saved; updates then act in memory only. Default false. */
  readonly readOnly?: boolean;
}

export interface OpenConfig {
  readonly store: ConfigStore;
  /**
   * Code in a section, in keys or in a template runs on behalf of its owner; the configuration is made without what
   * fails.
   */
  addSection(section: ConfigSection, owner: Owner): () => void;
  addBlockKeys(keys: BlockKeys, owner: Owner): () => void;
  addTemplate(template: BlockTemplate, owner: Owner): () => void;
  /** `check` throws a Problem to refuse an update. */
  onCheck(check: (candidate: ConfigCandidate) => Promise<void>): void;
  /** The listener is called for one change at a time, and may itself make updates. */
  onChanged(listener: (change: ConfigChange) => Promise<void>): void;
  /** Runs code that a listener starts but that is not its answer to the change, such as the set-up of a plugin. */
  outsideAnnouncement<Value>(fn: () => Value): Value;
  /** Takes over changes of the file from outside, without waiting until they are noticed. */
  reread(): Promise<void>;
  /** Takes over the blocks that plugins have brought, and announces them when `isTold` is true. */
  takeOverPlugins(how: { readonly isTold: boolean }): Promise<void>;
  /**
   * Lists what does not fit, and what fits but cannot be meant. `unloaded` are the members of `dumb` that belong to
   * plugins which are not loaded.
   */
  review(unloaded: ReadonlySet<string>): Promise<ConfigReview>;
  /** What is wrong with the defaults that plugins give to blocks; the log has each fault when it happens. */
  faults(): readonly string[];
  /** Resolves once every later change will be noticed. */
  startWatching(): Promise<void>;
  close(): Promise<void>;
}

export async function openConfig({ configDir, log, env, readOnly = false }: OpenConfigOptions): Promise<OpenConfig> {
  const schema = new ConfigSchema();
  const file = new MainFile({ configDir, log, readOnly });
  const environment = await openEnvironment(configDir, env, log);
  const current = new CurrentConfig({ file, schema, environment });
  const announcements = new Announcements(log);
  const updates = new Updates({ current, file, schema, announcements, log, readOnly });
  await file.load();
  return new MainConfig({ log, schema, file, environment, current, announcements, updates });
}

interface Parts {
  readonly log: Logger;
  readonly schema: ConfigSchema;
  readonly file: MainFile;
  readonly environment: Environment;
  readonly current: CurrentConfig;
  readonly announcements: Announcements;
  readonly updates: Updates;
}

type View = 'shown' | 'masked' | 'open';

class MainConfig implements OpenConfig, ConfigStore {
  readonly #parts: Parts;
  /** Cached by the viewed object, because a change leaves most objects of the configuration the same. */
  readonly #views: Readonly<Record<View, WeakMap<object, { readonly place: Place; readonly made: unknown }>>> = {
    shown: new WeakMap(),
    masked: new WeakMap(),
    open: new WeakMap(),
  };
  #unwatch: (() => Promise<void>) | undefined;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get store(): ConfigStore {
    return this;
  }

  get state(): ConfigState {
    const { state } = this.#parts.file;
    return state === 'valid' && this.#effective().unsafe !== null ? 'safe' : state;
  }

  get stateReason(): string | null {
    return this.#parts.file.reason ?? this.#effective().unsafe;
  }

  get unusedReason(): string | null {
    return this.#parts.file.unusedReason;
  }

  get file(): string {
    return this.#parts.file.path;
  }

  overridingVariables(): readonly string[] {
    return this.#effective().overrides.flatMap(({ path, variable }) => (path.length > 1 ? [variable] : []));
  }

  get problems(): readonly ConfigProblem[] {
    return this.#effective().problems;
  }

  get disabledBlocks(): ReadonlyMap<string, string> {
    return this.#effective().disabledBlocks;
  }

  get revision(): string {
    return this.#effective().revision;
  }

  root(): Readonly<ConfigObject> {
    return this.#effective().root;
  }

  get(at: string | readonly string[]): unknown {
    return valueAt(this.root(), typeof at === 'string' ? at.split('.') : at);
  }

  blocks(): readonly NamedBlock[] {
    return this.#effective().processes;
  }

  findBlock(processName: string): NamedBlock | undefined {
    const { byName, processes } = this.#effective();
    return byName.get(processName) ?? matchBlock(processes, processName);
  }

  stored(path: ConfigPath): unknown {
    return valueAt(this.#parts.file.value, path);
  }

  shown(path: ConfigPath): unknown {
    return this.#view(this.get('dumb.api_service.mask_secrets') === true ? 'masked' : 'shown', path);
  }

  masked(path: ConfigPath): unknown {
    return this.#view('masked', path);
  }

  withoutSecrets(path: ConfigPath, root?: Readonly<ConfigObject>): unknown {
    return this.#view('open', path, root);
  }

  jsonSchema(): ConfigObject {
    return this.#parts.schema.jsonSchema(this.#effective().blocks);
  }

  blockSchema(block: NamedBlock): ConfigObject | undefined {
    return this.#parts.schema.blockJsonSchema(block);
  }

  blockMarks({ configKey }: Pick<NamedBlock, 'configKey'>): BlockMarks {
    return this.#parts.schema.blockMarks(configKey);
  }

  keepBlock(processName: string, isKept: boolean): void {
    this.#parts.current.keepBlock(processName, isKept);
  }

  givenBlock(processName: string): GivenBlock | undefined {
    return this.#parts.current.givenBlock(processName);
  }

  regainBlock(processName: string, given: GivenBlock, members: Readonly<ConfigObject>): boolean {
    return this.#parts.current.regainBlock(processName, given, members);
  }

  update(update: ConfigUpdate): Promise<ConfigUpdateResult> {
    return this.#parts.updates.make(update);
  }

  announced(): Promise<void> {
    return this.#parts.announcements.onIdle();
  }

  addSection(section: ConfigSection, owner: Owner): () => void {
    return this.#withSchemaChange(this.#parts.schema.addSection(section, owner));
  }

  addBlockKeys(keys: BlockKeys, owner: Owner): () => void {
    return this.#withSchemaChange(this.#parts.schema.addBlockKeys(keys, owner));
  }

  addTemplate(template: BlockTemplate, owner: Owner): () => void {
    return this.#withSchemaChange(this.#parts.schema.addTemplate(template, owner));
  }

  onCheck(check: (candidate: ConfigCandidate) => Promise<void>): void {
    this.#parts.updates.onCheck(check);
  }

  onChanged(listener: (change: ConfigChange) => Promise<void>): void {
    this.#parts.announcements.listen(listener);
  }

  outsideAnnouncement<Value>(fn: () => Value): Value {
    return this.#parts.announcements.outside(fn);
  }

  reread(): Promise<void> {
    return this.#parts.updates.takeOverFile({ isAsked: true });
  }

  takeOverPlugins(how: { readonly isTold: boolean }): Promise<void> {
    return this.#parts.updates.takeOverPlugins(how);
  }

  async review(unloaded: ReadonlySet<string>): Promise<ConfigReview> {
    const { file, environment } = this.#parts;
    const { blocks, place, problems: misfits, unusedVariables } = this.#effective();
    const { problems, notes } = await reviewConfig({
      file: file.value,
      place,
      blocks,
      marksOf: block => this.blockMarks(block),
      unusedVariables,
      unloaded,
    });
    const ofFiles = [...file.problems(), ...environment.problems];
    return { problems: [...ofFiles, ...misfits.map(({ message }) => message), ...problems], notes };
  }

  faults(): string[] {
    this.#effective();
    return this.#parts.schema.faults();
  }

  async startWatching(): Promise<void> {
    const { log, updates, file } = this.#parts;
    const unwatch = await watchConfigFile(this.file, log, async () => {
      await updates.takeOverFile({ isAsked: false });
      return !file.isUnread;
    });
    if (this.#isClosed) await unwatch();
    else this.#unwatch = unwatch;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#unwatch?.();
    await this.#parts.updates.onIdle();
    await this.#parts.announcements.onIdle();
    await this.#parts.file.onIdle();
  }

  #effective(): Effective {
    return this.#parts.current.effective();
  }

  /** Computed once for each object and its place, because many callers ask for the same view. */
  #view(view: View, path: ConfigPath, root?: Readonly<ConfigObject>): unknown {
    const effective = this.#effective();
    const value = valueAt(root ?? effective.open, path);
    const place = effective.place.at(path);
    const views = this.#views[view];
    const known = isObject(value) ? views.get(value) : undefined;
    if (known?.place === place) return known.made;
    const made = view === 'open' ? valueWithoutSecrets(value, place) : shownValue(value, place, view === 'masked');
    if (isObject(made)) Object.freeze(made);
    if (isObject(value)) views.set(value, { place, made });
    return made;
  }

  #withSchemaChange(withdraw: () => void): () => void {
    const { current } = this.#parts;
    current.outdate();
    return () => {
      withdraw();
      current.outdate();
    };
  }
}
