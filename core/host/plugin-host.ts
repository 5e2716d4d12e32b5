// The `host` object of one plugin: every registration goes to the shared registry and into the plugin's scope.

import { z } from 'zod';
import type { OpenConfig } from '../config/open.ts';
import type { BlockKeys, BlockTemplate, ConfigSection } from '../contract/config.ts';
import type { Host, Paths, PluginReport } from '../contract/host.ts';
import type { ScheduleOptions } from '../contract/job.ts';
import type { Disposer } from '../contract/plugin.ts';
import { Problem } from '../contract/problem.ts';
import { openJobs, type WorkLeftBehind } from '../jobs/open-jobs.ts';
import { createCron, repeat } from '../jobs/schedule.ts';
import { membersOf, refuseMisspelt, requireFunction } from '../kit/checked-argument.ts';
import { isTimeZone } from '../kit/time-zone.ts';
import type { Capabilities } from './capabilities.ts';
import { signalFor } from './contain.ts';
import type { ContributionRegistry } from './contributions.ts';
import type { PluginFolder } from './discover.ts';
import type { HttpServer } from './entrance.ts';
import type { EventRegistry } from './events.ts';
import { createFetcher } from './fetch.ts';
import type { HookRegistry } from './hooks.ts';
import { callerOf } from './invoke.ts';
import { type DatabasePlace, ownDatabase } from './plugin-database.ts';
import type { Scope } from './scope.ts';
import type { ServiceRegistry } from './services.ts';
import { NoService, withheld } from './withheld.ts';

const SCHEDULE_MEMBERS = membersOf<ScheduleOptions>({ timeZone: true });

/** The registries that all plugins share. */
export interface Registries {
  readonly version: string;
  readonly paths: Paths;
  readonly config: OpenConfig;
  readonly http: HttpServer;
  readonly events: EventRegistry;
  readonly hooks: HookRegistry;
  readonly contributions: ContributionRegistry;
  readonly services: ServiceRegistry;
  readonly capabilities: Capabilities;
  readonly leftBehind: WorkLeftBehind;
  readonly databases: DatabasePlace;
  reports(): readonly PluginReport[];
  missing(): readonly PluginReport[];
  stopping(): 'request' | 'fault' | null;
  stop(): void;
  reload(by: string): Promise<void>;
  /** Reports a contribution that was made before its point was declared and does not fit. */
  refused(scope: Scope, error: Error): void;
  /** Whether network requests are withheld. */
  readonly dryRun: boolean;
  /** The factor that `Host.paced` multiplies by. */
  readonly pace: number;
  /** Runs `start` now if the host is ready, otherwise once it is. The returned disposer ends what was started. */
  whenReady(start: () => Disposer): Disposer;
}

export function createPluginHost(shared: Registries, scope: Scope, found: PluginFolder): Host {
  const plugin = scope.plugin;
  /** A plugin that was disposed of, or whose set-up was late, can register nothing more. */
  const register = <Added>(add: () => Added, withdrawal: (added: Added) => () => unknown): Added => {
    scope.requireLive();
    const added = add();
    const withdraw = withdrawal(added);
    scope.own(async () => {
      await withdraw();
    });
    return added;
  };
  const own = (add: () => () => unknown): unknown => register(add, withdraw => withdraw);
  const start = (begin: () => Disposer): Disposer => {
    scope.requireLive();
    return scope.own(shared.whenReady(begin));
  };
  const flags = (names: string | readonly string[] | undefined): void => {
    for (const name of typeof names === 'string' ? [names] : (names ?? [])) {
      own(() => shared.capabilities.add(scope, name, () => true));
    }
  };
  const fetcher = createFetcher(scope.signal, `stackwarden/${shared.version}`);
  scope.own(() => fetcher.close());
  const kinds = new Set<string>();

  return {
    name: plugin,
    version: shared.version,
    signal: scope.signal,
    log: scope.log,
    paths: shared.paths,
    Problem,
    z,
    // Routes and streams are copied, so that an accessor among their members runs once, here, as code of the plugin.
    route(given) {
      const names = Object.keys(given).filter(name => name !== 'response') as (keyof typeof given)[];
      const route = {
        ...(Object.fromEntries(names.map(name => [name, given[name]])) as Omit<typeof given, 'response'>),
        handle: given.handle?.bind(given),
        // A getter, because the schema of an answer may grow with what other plugins contribute.
        get response() {
          return given.response;
        },
      };
      own(() => shared.http.addRoute(scope, route as never));
      scope.routes.push(`${route.method} ${route.path}`);
      flags(route.capability);
    },
    stream(given) {
      const stream = { ...given, open: given.open?.bind(given) };
      own(() => shared.http.addStream(scope, stream));
      scope.streams.push(stream.path);
      flags(stream.capability);
    },
    contribute(point, key, original) {
      const add = () => shared.contributions.add(scope, point, key, original);
      const { value } = register(add, ({ withdraw }) => withdraw);
      for (const [flag, isSet] of Object.entries(shared.contributions.flagsOf(point, value))) {
        const owner = shared.capabilities.ownerOf(flag) ?? plugin;
        if (owner === plugin) own(() => shared.capabilities.add(scope, flag, () => isSet));
        else scope.log.warn(`the flag ${flag} is left out: ${owner} has it already`);
      }
      if (point === 'config.schema') own(() => shared.config.addSection(value as ConfigSection, scope));
      if (point === 'config.block') own(() => shared.config.addBlockKeys(value as BlockKeys, scope));
      if (point === 'config.template') own(() => shared.config.addTemplate(value as BlockTemplate, scope));
    },
    point(name, options) {
      const declare = () => shared.contributions.declare(scope, name, options, shared.refused);
      return register(declare, ({ withdraw }) => withdraw).list as never;
    },
    contributions: point => shared.contributions.list(point) as never,
    provide(name, service, options) {
      own(() => shared.services.provide(scope, name, service, options));
    },
    use(name) {
      const service = shared.services.find(name);
      if (service === undefined) throw new NoService(name);
      return service as never;
    },
    find: name => shared.services.find(name) as never,
    get caller() {
      const caller = callerOf(scope);
      return caller === undefined ? null : { plugin: caller.plugin, gone: signalFor(scope, caller.gone) };
    },
    hook(name, kind, options) {
      const declare = () => shared.hooks.declare(scope, name, kind, options);
      return register(declare, ({ withdraw }) => withdraw).hook as never;
    },
    tap(name, fn, options) {
      own(() => shared.hooks.tap(scope, name, fn as never, options));
    },
    event(type, declaration) {
      own(() => shared.events.declare(plugin, type, declaration));
    },
    emit(type, data, options) {
      if (!scope.disposed) shared.events.emit(plugin, type, data, options);
    },
    on(type: string, listener: (event: never) => unknown) {
      scope.requireLive();
      return scope.own(shared.events.on(scope, type, listener as (event: unknown) => unknown));
    },
    events: () => shared.events.list(),
    capability(flag, predicate) {
      own(() => shared.capabilities.add(scope, flag, predicate));
    },
    capabilities: () => shared.capabilities.all(),
    plugins: () => shared.reports(),
    missingPlugins: () => shared.missing(),
    openapi: () => shared.http.openapi(),
    every(ms, fn) {
      if (!(ms > 0)) throw new Error(`a timer of ${plugin} has a pause of ${ms} ms; it must be above 0`);
      requireFunction(fn, `what a timer of ${plugin} is to run`);
      return start(() => repeat(scope, ms, fn));
    },
    paced: ms => ms * shared.pace,
    cron(expression, fn, options = {}) {
      refuseMisspelt(Object.keys(options), SCHEDULE_MEMBERS, `the schedule '${expression}' of ${plugin}`);
      const { timeZone = configuredTimeZone(shared, scope) } = options;
      requireFunction(fn, `what a schedule of ${plugin} is to run`);
      const cron = createCron(scope, expression, fn, timeZone);
      const end = start(() => {
        cron.resume();
        return () => cron.stop();
      });
      return {
        next: () => (scope.disposed || cron.isStopped() ? null : cron.nextRun()),
        stop() {
          cron.stop();
          void end();
        },
      };
    },
    async jobs(kind, options) {
      if (kinds.has(kind)) throw new Error(`the kind of jobs '${kind}' is registered already`);
      const opened = openJobs(scope, kind, options, {
        configDir: shared.paths.configDir,
        leftBehind: shared.leftBehind,
      });
      kinds.add(kind);
      scope.own(() => opened.close());
      await opened.load();
      start(() => {
        opened.resume();
        return () => undefined;
      });
      return opened.jobs;
    },
    database: (name, options) => ownDatabase(scope, found, name, options, shared.databases),
    fetch: shared.dryRun ? (): Promise<never> => Promise.reject(withheld('a request')) : fetcher.fetch,
    stop: shared.stop,
    reload: shared.reload,
    get stopping() {
      return shared.stopping();
    },
  };
}

/** The configured `tz`; undefined, which means local time, when it is missing or unknown. */
function configuredTimeZone({ config }: Registries, { log }: Scope): string | undefined {
  const zone = config.store.get('tz');
  if (typeof zone !== 'string' || zone === '') return undefined;
  if (isTimeZone(zone)) return zone;
  log.warn(`tz is '${zone}', which is no known time zone; schedules follow local time`);
  return undefined;
}
