// The catalogue of service templates. All facts about a kind of service are in its template file.
import type { NamedBlock } from '#core';
import type { OptionFact, ServiceTemplate } from './template.ts';

export type { OptionFact, ServiceTemplate } from './template.ts';

/** The facts that the templates hold about each kind of service. */
export interface ServiceTemplates {
  /** All templates, sorted by key. */
  list(): readonly ServiceTemplate[];
  /** Finds a template by configuration key or former key. */
  get(configKey: string): ServiceTemplate | undefined;
  /** The path of the service's block in the configuration, or of the object that has its instances. */
  placeOf(template: ServiceTemplate): readonly string[];
  /** The paths that the former keys stand for. */
  formerPlacesOf(template: ServiceTemplate): readonly (readonly string[])[];
  /** Finds a template by key, former key, display name or onboarding name, ignoring case. */
  find(name: string): ServiceTemplate | undefined;
  /** The facts about an option of a service; undefined when it has no such option. */
  option(template: ServiceTemplate, option: string): OptionFact | undefined;
  /** Keys of the services that a block names in `core_service` or `core_services`, as texts, comma lists or arrays. */
  linksOf(block: Readonly<Record<string, unknown>>): readonly string[];
  /** Keys of the components that a core service always needs, with this block. */
  coreNeeds(template: ServiceTemplate, block: Readonly<Record<string, unknown>>): readonly string[];
  /** The path at which a block mounts a file system, as the mount table spells it; undefined when it mounts none. */
  mountOf(block: NamedBlock): string | undefined;
  /**
   * The folder of the releases of its program; undefined when it has none, or an option that is part of the path is not
   * set.
   */
  installDirectory(block: NamedBlock): string | undefined;
  /** Options of any service from which relations are read; answers may show those in `shown`. */
  graphOptions(): { readonly shown: readonly string[]; readonly read: readonly string[] };
  /** The block of a new service, or of the named instance for a service with instances. */
  block(template: ServiceTemplate, instance?: string): Record<string, unknown>;
}

declare module '#core' {
  interface Services {
    'service.templates': ServiceTemplates;
  }
}
