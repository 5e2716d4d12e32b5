// What is known of each kind of service, for every plugin that needs it. The facts stand in one file per service.
import type { NamedBlock } from '#core';
import type { OptionFact, ServiceTemplate } from './template.ts';

export type { OptionFact, ServiceTemplate } from './template.ts';

/** What the templates say of each kind of service. */
export interface ServiceTemplates {
  /** In order of their keys. */
  list(): readonly ServiceTemplate[];
  /** By configuration key or former key. */
  get(configKey: string): ServiceTemplate | undefined;
  /** By key, former key, display name or onboarding name, whatever the case. */
  find(name: string): ServiceTemplate | undefined;
  /** What is known of an option of a service; undefined when it has no such option. */
  option(template: ServiceTemplate, option: string): OptionFact | undefined;
  /** Keys of the services that a block names in `core_service` or `core_services`: texts, comma lists or arrays. */
  linksOf(block: Readonly<Record<string, unknown>>): readonly string[];
  /** Keys of the components that a core service always needs, as its block is now. */
  coreNeeds(template: ServiceTemplate, block: Readonly<Record<string, unknown>>): readonly string[];
  /** Where a block mounts something; undefined for one that mounts nothing. */
  mountOf(block: NamedBlock): string | undefined;
  /** Options that relations are read from, of whatever kind of service; `shown`: answers may show them. */
  graphOptions(): { readonly shown: readonly string[]; readonly read: readonly string[] };
  /** The block of a new service; for a kind with instances that of the named instance. */
  block(template: ServiceTemplate, instance?: string): Record<string, unknown>;
}

declare module '#core' {
  interface Services {
    'service.templates': ServiceTemplates;
  }
}
