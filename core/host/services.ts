// Services: each name has one implementation that other plugins call; it runs as code of its provider.
import type { ProvideOptions } from '../contract/host.ts';
import { membersOf, refuseMisspelt, requireDeadline, requireText } from '../kit/checked-argument.ts';
import { NameTaken } from '../kit/name-taken.ts';
import { Container } from './contain.ts';
import type { Scope } from './scope.ts';

const DEADLINE_MS = 60_000;
const MEMBERS = membersOf<ProvideOptions>({ deadlineMs: true, deadlinesMs: true, mayFail: true });

interface Provision {
  readonly plugin: string;
  readonly service: unknown;
}

export class ServiceRegistry {
  readonly #provisions = new Map<string, Provision>();

  /** Provides a service of the host itself, which is called without a wrapper. */
  provideOwn(name: string, service: unknown): void {
    this.#provisions.set(name, { plugin: 'core', service });
  }

  provide(scope: Scope, name: string, service: unknown, options: ProvideOptions = {}): () => void {
    const { plugin } = scope;
    requireText(name, `the name of a service of ${plugin}`);
    const other = this.#provisions.get(name);
    if (other !== undefined) throw new NameTaken(`service '${name}' of ${plugin}`, 'provided', other.plugin);
    refuseMisspelt(Object.keys(options), MEMBERS, `service '${name}' of ${plugin}`);
    const { deadlineMs = DEADLINE_MS, deadlinesMs = {}, mayFail = false } = options;
    for (const ms of [deadlineMs, ...Object.values(deadlinesMs)]) requireDeadline(ms, `service '${name}' of ${plugin}`);
    const container = new Container({
      scope,
      place: 'service',
      name,
      mayFail: () => mayFail,
      deadlineMs: member => (Object.hasOwn(deadlinesMs, member) ? deadlinesMs[member] : undefined) ?? deadlineMs,
    });
    this.#provisions.set(name, { plugin, service: container.contain(service) });
    return () => this.#provisions.delete(name);
  }

  find(name: string): unknown {
    return this.#provisions.get(name)?.service;
  }

  of(plugin: string): string[] {
    return [...this.#provisions].filter(([, provision]) => provision.plugin === plugin).map(([name]) => name);
  }
}
