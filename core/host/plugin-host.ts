// The `host` object that one plugin gets: every registration goes to the shared registry and into the plugin's scope.

import type { OpenConfig } from '../config/open.ts';
import type { BlockTemplate, ConfigSection } from '../contract/config.ts';
import type { Host, Paths, PluginReport } from '../contract/host.ts';
import type { Disposer } from '../contract/plugin.ts';
import { Problem } from '../contract/problem.ts';
import { createJob } from '../jobs/job.ts';
import { repeat, schedule } from '../jobs/schedule.ts';
import type { Capabilities } from './capabilities.ts';
import type { ContributionRegistry } from './contributions.ts';
import type { HttpServer } from './entrance.ts';
import { createFetcher } from './fetch.ts';
import type { HookRegistry } from './hooks.ts';
import type { Scope } from './scope.ts';
import type { ServiceRegistry } from './services.ts';

/** What all plugins share. */
export interface Registries {
  readonly version: string;
  readonly paths: Paths;
  readonly config: OpenConfig;
  readonly http: HttpServer;
  readonly hooks: HookRegistry;
  readonly contributions: ContributionRegistry;
  readonly services: ServiceRegistry;
  readonly capabilities: Capabilities;
  reports(): readonly PluginReport[];
  stopping(): 'request' | 'fault' | null;
  stop(): void;
  /** What `Host.paced` multiplies with. */
  readonly pace: number;
  /** Runs `start` now if the host is ready, else when it is; what it returns ends it. */
  whenReady(start: () => Disposer): Disposer;
}

export function createPluginHost(shared: Registries, scope: Scope): Host {
  const plugin = scope.plugin;
  const own = (withdraw: () => unknown): void => {
    scope.own(async () => {
      await withdraw();
    });
  };
  const flags = (names: string | readonly string[] | undefined): void => {
    for (const name of typeof names === 'string' ? [names] : (names ?? [])) {
      own(shared.capabilities.add(plugin, name, () => true));
    }
  };
  const fetcher = createFetcher(scope.signal, `stackwarden/${shared.version}`);
  own(() => fetcher.close());

  return {
    name: plugin,
    version: shared.version,
    signal: scope.signal,
    log: scope.log,
    paths: shared.paths,
    Problem,
    route(route) {
      own(shared.http.addRoute(plugin, route as never));
      scope.routes.push(`${route.method} ${route.path}`);
      flags(route.capability);
    },
    stream(stream) {
      own(shared.http.addStream(plugin, stream));
      scope.streams.push(stream.path);
      flags(stream.capability);
    },
    contribute(point, key, value) {
      own(shared.contributions.add(plugin, point, key, value));
      if (point === 'config.schema') own(shared.config.addSection(value as ConfigSection));
      if (point === 'config.block') own(shared.config.addBlockSchema(key, (value as { schema: never }).schema));
      if (point === 'config.template') own(shared.config.addTemplate(value as BlockTemplate));
    },
    contributions: point => shared.contributions.list(point) as never,
    provide(name, service) {
      own(shared.services.provide(plugin, name, service));
    },
    use(name) {
      const service = shared.services.find(name);
      if (service === undefined) throw new Problem(503, `The part that provides ${name} is not available`);
      return service as never;
    },
    find: name => shared.services.find(name) as never,
    hook(name, kind, options) {
      const { hook, withdraw } = shared.hooks.declare(plugin, name, kind, options);
      own(withdraw);
      return hook as never;
    },
    tap(name, fn, options) {
      own(shared.hooks.tap(scope, name, fn as never, options));
    },
    capability(flag, predicate) {
      own(shared.capabilities.add(plugin, flag, predicate));
    },
    capabilities: () => shared.capabilities.all(),
    plugins: () => shared.reports(),
    openapi: () => shared.http.openapi(),
    every: (ms, fn) => scope.own(shared.whenReady(() => repeat(scope, ms, fn))),
    paced: ms => ms * shared.pace,
    cron: (expression, fn) => scope.own(shared.whenReady(() => schedule(scope, expression, fn))),
    job: (kind, fn) => createJob(scope, kind, fn),
    fetch: (url, options) => fetcher.fetch(url, options),
    stop: shared.stop,
    get stopping() {
      return shared.stopping();
    },
  };
}
