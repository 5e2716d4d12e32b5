// What the wizard offers: services by role, each with its options and their present values.
import type { ConfigStore } from '#core';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';
import { attachedInstance } from './attachment.ts';

type Options = Record<string, unknown>;
type Help = Record<string, string>;

export class Offers {
  readonly #store: ConfigStore;
  readonly #templates: ServiceTemplates;

  constructor(store: ConfigStore, templates: ServiceTemplates) {
    this.#store = store;
    this.#templates = templates;
  }

  coreServices() {
    return this.#ofRole('core').map(template => {
      const components = [template, ...this.#dependencies(template)];
      const own = template.instance === undefined ? {} : { [template.instance]: template };
      return {
        name: template.onboarding?.name ?? template.displayName,
        key: template.key,
        dependencies: template.onboarding?.dependencies ?? [],
        description: describe(template),
        debrid_providers: template.onboarding?.debridProviders ?? [],
        service_options: byKey(components, component => this.#options(component, template)),
        service_option_descriptions: byKey(components, component => this.#help(component)),
        supports_instances: template.instance !== undefined,
        instance_options: mapValues(own, component => this.#options(component, template)),
        instance_option_descriptions: mapValues(own, component => this.#help(component)),
      };
    });
  }

  /** Leaves out dependencies of `core`, and services that come with a chosen one and are not chosen themselves. */
  optionalServices(core: string | undefined, chosen: readonly string[]) {
    const needed = core === undefined ? [] : (this.#templates.get(core)?.onboarding?.dependencies ?? []);
    const chosenTemplates = chosen.flatMap(name => this.#templates.find(name) ?? []);
    const brought = chosenTemplates.flatMap(({ onboarding }) => onboarding?.brings ?? []);
    const isChosen = (key: string): boolean => chosenTemplates.some(template => template.key === key);
    return this.#ofRole('optional')
      .filter(({ key }) => !needed.includes(key) && (!brought.includes(key) || isChosen(key)))
      .map(template => ({
        name: template.onboarding?.name ?? template.displayName,
        key: template.key,
        description: describe(template),
        service_options: this.#options(template, template),
        service_option_descriptions: this.#help(template),
        supports_instances: false,
        instance_options: {},
        instance_option_descriptions: {},
      }));
  }

  #ofRole(role: 'core' | 'optional'): ServiceTemplate[] {
    return this.#templates
      .list()
      .filter(({ onboarding }) => onboarding?.roles.includes(role))
      .sort((a, b) => (a.onboarding?.order ?? Number.MAX_VALUE) - (b.onboarding?.order ?? Number.MAX_VALUE));
  }

  #dependencies({ onboarding }: ServiceTemplate): ServiceTemplate[] {
    return (onboarding?.dependencies ?? []).flatMap(key => this.#templates.get(key) ?? []);
  }

  /** Present values, because the wizard sends only options that differ from what it was shown. Secrets are blank. */
  #options(template: ServiceTemplate, core: ServiceTemplate): Options {
    const block = this.#block(template, core);
    return Object.fromEntries(
      (template.onboarding?.offers ?? [])
        .filter(option => Object.hasOwn(block, option))
        .map(option => [
          option,
          this.#templates.option(template, option)?.secret === true ? '' : structuredClone(block[option]),
        ]),
    );
  }

  #block(template: ServiceTemplate, core: ServiceTemplate): Readonly<Options> {
    const blocks = this.#store.blocks().filter(({ configKey }) => configKey === template.key);
    if (template.instance === undefined) return blocks[0]?.block ?? template.block;
    return attachedInstance(blocks, core, this.#templates)?.block ?? template.block;
  }

  #help(template: ServiceTemplate): Help {
    const byPlugins = this.#describedByPlugins(template);
    return Object.fromEntries(
      (template.onboarding?.offers ?? []).flatMap(option => {
        const help = this.#templates.option(template, option)?.help ?? byPlugins[option]?.description;
        return typeof help === 'string' ? [[option, help]] : [];
      }),
    );
  }

  /** Plugins that read options of every service describe them themselves, and no template does. */
  #describedByPlugins({ key }: ServiceTemplate): Readonly<Record<string, Options | undefined>> {
    const block = this.#store.blocks().find(({ configKey }) => configKey === key);
    const { properties = {} } = (block && this.#store.blockSchema(block)) ?? {};
    return properties as Readonly<Record<string, Options | undefined>>;
  }
}

/** Plain text; the frontend turns addresses into links. */
function describe({ description, links, onboarding }: ServiceTemplate): string {
  const providers = onboarding?.debridProviders ?? [];
  return [description, links.documentation, providers.length === 0 ? undefined : `Providers: ${providers.join(', ')}`]
    .filter(line => line !== undefined)
    .join('\n');
}

function byKey<Value>(templates: readonly ServiceTemplate[], value: (template: ServiceTemplate) => Value) {
  return Object.fromEntries(templates.map(template => [template.key, value(template)]));
}

function mapValues<Value>(
  record: Readonly<Record<string, ServiceTemplate>>,
  value: (template: ServiceTemplate) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([key, template]) => [key, value(template)]));
}
