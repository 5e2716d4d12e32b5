// The host: reads the configuration, sets the plugins up in order, listens, and takes everything down in reverse.
import './zod-settings.ts';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { OpenConfig } from '../config/open.ts';
import { openConfig } from '../config/open.ts';
import type { ConfigChange, ConfigReview } from '../contract/config.ts';
import type { PluginReport } from '../contract/host.ts';
import type { Logger } from '../contract/log.ts';
import type { Disposer } from '../contract/plugin.ts';
import type { AccessCheck } from '../contract/route.ts';
import type { WorkLeftBehind } from '../jobs/open-jobs.ts';
import { withDeadline } from '../kit/deadline.ts';
import { makeDirectory } from '../kit/make-directory.ts';
import { warningsOfOwners } from '../kit/trust.ts';
import { createEarlyLog } from '../log/early-log.ts';
import { createLogging, type Logging } from '../log/own-log.ts';
import { Capabilities } from './capabilities.ts';
import { ContributionRegistry } from './contributions.ts';
import { type CoreHooks, declareCoreHooks, declareCorePoints } from './core-seams.ts';
import { watchDescriptors } from './descriptor-watch.ts';
import { pluginDirectories } from './discover.ts';
import { createHttpEntrance, type HttpServer } from './entrance.ts';
import { EventRegistry } from './events.ts';
import { HookRegistry } from './hooks.ts';
import type { HostOptions, StackwardenHost } from './host-options.ts';
import { asHost } from './invoke.ts';
import { listen } from './listen.ts';
import { loadedPlugins } from './loaded-plugins.ts';
import { ownedEntrance } from './owned-entrance.ts';
import { ownedLogHub } from './owned-log-hub.ts';
import { PluginExits } from './plugin-exits.ts';
import type { Registries } from './plugin-host.ts';
import { type PluginDeadlines, PluginSet } from './plugin-set.ts';
import { PluginWatches } from './plugin-watch.ts';
import { watchProcess } from './process-watch.ts';
import { ProgramFolder } from './program-folder.ts';
import { Recovery } from './recovery.ts';
import { refuseUnready, refuseWithoutRequired } from './required.ts';
import { reviewOfCore } from './review.ts';
import { ServiceRegistry } from './services.ts';
import { readSettings, type Settings } from './settings.ts';
import { unknownSeams } from './unknown-seams.ts';
import { newUnusedWords } from './unused-words.ts';
import { version } from './version.ts';

// Nobody can add members to the prototype of all objects, so no input that reaches it can give members to every object.
Object.preventExtensions(Object.prototype);

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const programFolder = new ProgramFolder(rootDir);
const CLOSE_GRACE_MS = 2_000;
/** The watch of files, which looks at each of them, begins this much later: waiting clients send requests at once. */
const WATCH_PAUSE_MS = 100;
/**
 * How long a stop during the start waits before it abandons plugins that are being loaded and are not required; after a
 * second signal, how long it waits for the required ones.
 */
const LOADING_GRACE_MS = 5_000;
/** About a minute in all; a plugin that still fails then needs a person or a fresh process. */
const RECOVERY_PAUSES_MS = [250, 1_000, 2_000, 5_000, 10_000, 20_000];
const RECOVERY_SETTLED_MS = 300_000;
/** How long a forced end waits until the log is written. */
const LAST_WORDS_MS = 1_000;

export async function createHost(options: HostOptions): Promise<StackwardenHost> {
  const host = new RunningHost(options);
  const started = host.start();
  options.onCreated?.(host);
  try {
    await started;
  } catch (error) {
    await host.stop('fault');
    throw error;
  }
  return host;
}

class RunningHost implements StackwardenHost {
  readonly stopped: Promise<number>;
  address: { host: string; port: number } | null = null;
  readonly #early = createEarlyLog();
  log: Logger = this.#early;
  readonly #options: HostOptions;
  readonly #hooks = new HookRegistry();
  readonly #contributions = new ContributionRegistry();
  readonly #seams = { hooks: this.#hooks, events: new EventRegistry(), contributions: this.#contributions };
  readonly #services = new ServiceRegistry();
  readonly #capabilities = new Capabilities();
  readonly #leftBehind: WorkLeftBehind = new Map();
  readonly #waiting = new Set<() => void>();
  readonly #disposers: Disposer[] = [];
  readonly #exits: PluginExits;
  readonly #deadlines: PluginDeadlines;
  #settings!: Settings;
  #config!: OpenConfig;
  #logging!: Logging;
  #http!: HttpServer;
  #set: PluginSet | undefined;
  #ready = false;
  /** Unix time in milliseconds at which the loading of the plugins began. */
  #loadedFromMs = 0;
  #pluginWatches: PluginWatches | undefined;
  /** Whether a reload was requested during the start, which may have read the configuration before it was changed. */
  #reloadsWhenReady = false;
  /** Sentences about the configuration and the plugins that were logged already. */
  readonly #told = new Set<string>();
  #stopping: 'request' | 'fault' | null = null;
  #stop: Promise<void> | undefined;
  #resolveStopped!: (code: number) => void;
  readonly #coreHooks: CoreHooks;
  readonly #recovery: Recovery;
  /** Resolves when the start has finished, failed or been ended by a stop. */
  #started: Promise<void> = Promise.resolve();

  constructor(options: HostOptions) {
    this.#options = options;
    this.#exits = new PluginExits(options.configDir);
    this.#deadlines = { importMs: 2_000, setupMs: 10_000, disposeMs: 5_000, ...options.deadlines };
    this.#coreHooks = declareCoreHooks(this.#hooks);
    declareCorePoints(this.#contributions, (scope, error) => this.#set?.refuse(scope, error));
    this.#recovery = this.#createRecovery();
    this.stopped = new Promise(resolve => {
      this.#resolveStopped = resolve;
    });
  }

  async start(): Promise<void> {
    this.#started = this.#prepare();
    try {
      await this.#started;
    } catch (error) {
      if (this.#stopping === null) throw error;
    }
    if (this.#options.dryRun || this.#stopping !== null) return;
    await this.#tellReview();
    if (this.#stopping !== null) return;
    this.#ready = true;
    this.#options.onPhase?.('running', this);
    this.#lookAtRequired();
    await this.#coreHooks.ready.promise();
    if (this.#stopping !== null) return;
    for (const start of this.#waiting) start();
    this.#waiting.clear();
    if (this.#reloadsWhenReady) void this.reload();
    void this.#watchFiles();
  }

  /**
   * Runs the start up to the listener. A stop that is requested meanwhile ends the start only when the plugins are
   * loaded, because they stop processes that an earlier host left running.
   */
  async #prepare(): Promise<void> {
    const { dryRun = false } = this.#options;
    await this.#openConfiguration();
    await this.#openLog();
    this.#watchProcess();
    this.#openEntrance();
    this.#loadedFromMs = Date.now();
    await this.#loadPlugins();
    if (dryRun || this.#stopping !== null) return;
    refuseUnready(this.plugins(), this.#settings.plugins);
    await this.#listen();
  }

  get configFile(): string {
    return this.#config.store.file;
  }

  async reviewConfig(): Promise<ConfigReview> {
    const review = await this.#review();
    review.problems.push(...this.#config.faults());
    await this.#coreHooks.review.promise(review);
    return review;
  }

  #review(): Promise<ConfigReview> {
    const found = { reports: this.plugins(), choice: this.#settings.plugins, directories: this.#pluginDirs() };
    return reviewOfCore(this.#config, { ...found, seams: this.#seams });
  }

  /** Logs each finding once, however often the configuration changes. */
  async #tellReview(): Promise<void> {
    this.#tellFindings(await this.#review());
  }

  #tellFindings({ problems, notes }: ConfigReview): void {
    for (const problem of problems) this.#tellOnce(problem, 'warn');
    for (const note of notes) this.#tellOnce(note, 'info');
  }

  #tellOnce(text: string, level: 'warn' | 'info'): void {
    if (!this.#told.has(text)) this.log[level](text);
    this.#told.add(text);
  }

  plugins(): readonly PluginReport[] {
    return this.#set?.reports() ?? [];
  }

  stop(cause: 'request' | 'fault' = 'request'): Promise<void> {
    this.#stop ??= this.#stopAll(cause);
    return this.#stop;
  }

  async reload(by = 'SIGHUP'): Promise<void> {
    if (this.#stopping !== null) return;
    this.#reloadsWhenReady = !this.#ready;
    if (!this.#ready) return;
    this.#options.onPhase?.('reloading', this);
    this.#logging.rotate();
    this.log.info(`${by}: the configuration is read again, and the logs are rotated`);
    try {
      await this.#config.reread();
      await this.#coreHooks.hangup.promise();
    } finally {
      // No phase follows that of a stop, which may have begun meanwhile.
      if (this.#stopping === null) this.#options.onPhase?.('running', this);
    }
  }

  async force(): Promise<void> {
    this.log.warn('stopping at once, because of a second signal');
    this.#set?.hurryLoading();
    const started = this.#started.catch(() => undefined);
    await withDeadline(() => started, LOADING_GRACE_MS, 'the start').catch(() => undefined);
    await this.#coreHooks.forced.promise();
    this.log.info(`Stackwarden ${version} has stopped`);
    // A disk that does not respond may be the reason for the second signal.
    await withDeadline(() => this.#logging?.hub.flush(), LAST_WORDS_MS, 'the log').catch(() => undefined);
  }

  async #openConfiguration(): Promise<void> {
    const { configDir, env = process.env, dryRun = false } = this.#options;
    if (!dryRun) await makeDirectory(configDir);
    this.#config = await openConfig({ configDir, log: this.log, env, readOnly: dryRun });
    this.#disposers.push(() => this.#config.close());
    this.#settings = readSettings(this.#config.store.root(), this.#config.store.state);
    this.#config.onCheck(async candidate => {
      refuseWithoutRequired(readSettings(candidate.before).plugins, readSettings(candidate.after).plugins);
      candidate.warnings.push(...newUnusedWords(candidate));
      await this.#coreHooks.check.promise(candidate);
    });
    this.#config.onChanged(change => this.#configChanged(change));
    this.#services.provideOwn('config.store', this.#config.store);
  }

  async #openLog(): Promise<void> {
    const { configDir, dryRun = false, stdout = false } = this.#options;
    this.#logging = await createLogging({
      directory: this.#logDir(),
      toDisk: !dryRun,
      name: this.#settings.logName,
      settings: () => this.#settings.log,
      owner: () => this.#settings.serviceOwner,
      stdout,
    });
    // First in the list and so disposed of last, because the other disposers may still log.
    this.#disposers.unshift(() => {
      this.log.info(`Stackwarden ${version} has stopped`);
      return this.#logging.close();
    });
    this.log = this.#logging.logger('host');
    this.log.info(`Stackwarden ${version} starts`);
    this.#early.replay(this.log);
    for (const warning of await warningsOfOwners([rootDir, configDir])) this.log.warn(warning);
    this.#services.provideOwn('log.hub', ownedLogHub(this.#logging.hub));
  }

  #watchProcess(): void {
    if (this.#options.ownsProcess === false) return;
    const watch = watchProcess(this.#logging, {
      plugin: (scope, error) => this.#set?.fail(scope, error),
      ownerOf: (error, ranAs) => this.#set?.ownerOf(error, ranAs) ?? ranAs,
      host: () => void this.stop('fault'),
      exit: (plugin, code) => {
        const folder = this.#set?.folderOf(plugin);
        if (folder !== undefined) this.#exits.record(folder, code);
      },
    });
    this.#disposers.push(watch);
  }

  #logDir(): string {
    if (this.#settings.logDir !== undefined) return this.#settings.logDir;
    return existsSync('/log') ? '/log' : path.join(this.#options.configDir, 'log');
  }

  #openEntrance(): void {
    const { env = process.env, checkAnswers = env.STACKWARDEN_CHECK_ANSWERS !== undefined } = this.#options;
    this.#http = createHttpEntrance({
      checkAnswers,
      log: this.#logging.logger('http'),
      configDir: this.#options.configDir,
      version,
      config: () => this.#config.store.root(),
      service: name => this.#services.find(name),
      stopping: () => this.#stopping !== null,
    });
    this.#services.provideOwn('http.entrance', ownedEntrance(this.#http));
    this.#services.provideOwn('http.requests', { counts: () => this.#http.requests.counts() });
    if (this.#options.dryRun) return;
    this.#disposers.push(watchDescriptors(this.log, () => this.#http.closeIdleConnections()));
  }

  async #loadPlugins(): Promise<void> {
    const { configDir } = this.#options;
    const logDir = this.#logging.hub.directory;
    const registries: Registries = {
      version,
      paths: { configDir, logDir, templatesDir: path.join(rootDir, 'templates') },
      config: this.#config,
      http: this.#http,
      ...this.#seams,
      services: this.#services,
      capabilities: this.#capabilities,
      leftBehind: this.#leftBehind,
      databases: { configDir, owners: new Map(), dryRun: this.#options.dryRun ?? false },
      reports: () => this.plugins(),
      missing: () => this.#set?.missing() ?? [],
      stopping: () => this.#stopping,
      stop: () => asHost(() => void this.stop()),
      reload: by => asHost(() => this.reload(by)),
      refused: (scope, error) => this.#set?.refuse(scope, error),
      dryRun: this.#options.dryRun ?? false,
      pace: this.#options.pace ?? 1,
      whenReady: start => this.#whenReady(start),
    };
    this.#set = new PluginSet({
      directories: () => this.#pluginDirs(),
      choice: () => ({
        enabled: this.#options.plugins ?? this.#settings.plugins.enabled,
        disabled: this.#settings.plugins.disabled,
        override: this.#settings.plugins.override,
      }),
      refusalOf: folder => this.#exits.refusalOf(folder),
      deadlines: this.#deadlines,
      registries,
      logger: name => this.#logging.logger(name),
      required: () => this.#settings.plugins.required,
      onReady: async scope => {
        if (!this.#ready) return;
        this.log.info(`the plugin ${scope.plugin} is loaded`);
        await this.#hooks.replay(scope, 'host.ready');
      },
      onChange: () => {
        this.#lookAtRequired();
        if (this.#ready) this.#tellFindings(unknownSeams(this.#seams, this.plugins()));
        void this.#config.takeOverPlugins({ isTold: this.#ready });
      },
    });
    await this.#set.refresh();
    if (!this.#options.dryRun) this.log.info(loadedPlugins(this.plugins()));
  }

  /** Begins to watch plugins and configuration. Changes since the host read them are noticed too. */
  async #watchFiles(): Promise<void> {
    const { plugins, pace = 1 } = this.#options;
    await delay(WATCH_PAUSE_MS * pace, undefined, { ref: false });
    if (this.#stopping !== null) return;
    const watches = new PluginWatches({
      directories: () => this.#pluginDirs(),
      isWanted: name => plugins === undefined || plugins.includes(name),
      known: () => this.plugins().map(({ folder }) => folder),
      log: this.log,
      onChange: names => void this.#refreshPlugins(names),
    });
    this.#pluginWatches = watches;
    await Promise.all([watches.adjust(this.#loadedFromMs), this.#config.startWatching()]);
    if (this.#stopping === null) this.#disposers.push(() => watches.end());
    else await watches.end();
  }

  /**
   * Brings the plugins in line with their folders. All plugins stay as they are when a directory cannot be read, or
   * when the program's own folder was deleted or replaced.
   */
  async #refreshPlugins(changed?: ReadonlySet<string>): Promise<void> {
    try {
      await programFolder.settled();
      if (programFolder.isWhole) await this.#set?.refresh(changed);
      else
        this.#tellOnce(
          `${path.resolve(rootDir)} was deleted or replaced while Stackwarden runs from it: the plugins stay as they are; restart Stackwarden`,
          'warn',
        );
    } catch (error) {
      this.log.error('the plugins stay as they are', error);
    }
  }

  #pluginDirs(): readonly string[] {
    const { configDir, pluginDirs } = this.#options;
    return pluginDirs ?? pluginDirectories(configDir, this.#settings.plugins.dirs);
  }

  #createRecovery(): Recovery {
    return new Recovery({
      tell: message => this.log.warn(message),
      pausesMs: this.#options.recoveryPausesMs ?? RECOVERY_PAUSES_MS,
      settledMs: RECOVERY_SETTLED_MS,
      attempt: async plugin => this.#set?.retry(plugin),
      giveUp: (plugin, reason) => {
        this.log.error(`the required plugin ${plugin} cannot be brought back, so the host ends: ${reason}`);
        void this.stop('fault');
      },
    });
  }

  /** Starts recovery for each required plugin that is not ready; called once the host runs. */
  #lookAtRequired(): void {
    if (!this.#ready || this.#stopping !== null) return;
    for (const { name, required, state, reason } of this.plugins()) {
      if (required && state !== 'disabled') this.#recovery.look(name, state === 'ready', reason ?? state);
    }
  }

  async #listen(): Promise<void> {
    this.address = await listen(this.#http, {
      api: this.#settings.api,
      override: this.#options.listen ?? {},
      hasLogin: () => (this.#services.find('access') as AccessCheck | undefined)?.enabled() === true,
      log: this.log,
    });
  }

  #whenReady(start: () => Disposer): Disposer {
    if (this.#ready) return start();
    let end: Disposer | undefined;
    const later = (): void => {
      end = start();
    };
    this.#waiting.add(later);
    return () => {
      this.#waiting.delete(later);
      return end?.();
    };
  }

  async #configChanged(change: ConfigChange): Promise<void> {
    this.#settings = readSettings(this.#config.store.root(), this.#config.store.state);
    this.#logging.applySettings();
    if (change.actor === 'file') await this.#tellReview();
    await this.#coreHooks.changed.promise(change);
    const touched = [...(this.#set?.sectionOwners() ?? [])].filter(([section]) =>
      change.paths.some(changed => changed === section || changed.startsWith(`${section}.`)),
    );
    // Later updates of these plugins are not answers to this change.
    this.#config.outsideAnnouncement(() => {
      if (touched.length > 0) void this.#set?.restart(new Set(touched.map(([, name]) => name)));
      if (!change.paths.some(changed => changed.startsWith('dumb.plugins.'))) return;
      void this.#pluginWatches?.adjust();
      void this.#refreshPlugins();
    });
  }

  /**
   * Waits for the end of the start, because nothing may be set up after a stop has closed what it uses. Abandons
   * plugins that take too long, but leaves required ones their own deadlines.
   */
  async #untilStarted(cause: 'request' | 'fault'): Promise<void> {
    const { dryRun = false, pace = 1 } = this.#options;
    if (dryRun || cause === 'fault') this.#set?.stopLoading();
    const timer = setTimeout(() => this.#set?.hurryLoading(), LOADING_GRACE_MS * pace);
    await this.#started.catch(() => undefined).then(() => this.#set?.lastChange());
    clearTimeout(timer);
  }

  async #stopAll(cause: 'request' | 'fault'): Promise<void> {
    this.#stopping = cause;
    this.#options.onPhase?.('stopping', this);
    this.log.info(cause === 'request' ? 'stopping' : 'stopping because of a fault; managed processes go on');
    let clean = cause === 'request';
    const step = async (what: string, run: () => unknown): Promise<void> => {
      try {
        await run();
      } catch (error) {
        clean = false;
        this.log.error(`${what} failed while stopping`, error);
      }
    };
    this.#recovery.end();
    await step('the start', () => this.#untilStarted(cause));
    // A host that did not become ready has started no process, but may have found some that an earlier host left.
    if (this.#ready || (cause === 'request' && !this.#options.dryRun))
      await step('host.stopping', () => this.#coreHooks.stopping.promise());
    clean &&= this.#hooks.failuresOf('host.stopping') === 0;
    this.log.info('the plugins are taken down and the listener is closed');
    await step('closing the streams', () => this.#http?.closeStreams(1001, 'the service is stopping'));
    await step('disposing of the plugins', () => this.#set?.close());
    await step('closing the listener', () => this.#http?.close(CLOSE_GRACE_MS));
    for (const disposer of this.#disposers.reverse()) {
      await step('closing', () => withDeadline(async () => disposer(), this.#deadlines.disposeMs, 'closing'));
    }
    this.#resolveStopped(cause === 'fault' ? 70 : clean ? 0 : 1);
  }
}
