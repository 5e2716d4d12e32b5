// The service templates, with the look-ups that other plugins need.
import type { NamedBlock } from '#core';
import { listedPath } from '#kit/mountinfo';
import type { OptionFact, ServiceTemplate, ServiceTemplates } from './contract.ts';
import { Selection } from './selection.ts';

type Values = Readonly<Record<string, unknown>>;

/** The section of the host itself; the key of a block in it begins with its name. */
const OWN_SECTION = 'dumb';
/** The name of an option in braces. */
const OPTION = /\{(\w+)\}/g;

export class Catalogue implements ServiceTemplates {
  readonly #templates: ReadonlyMap<string, ServiceTemplate>;
  readonly #shared: Readonly<Record<string, OptionFact>>;
  /** Templates by former key; `#byName` has every name that users may give, in lower case. */
  readonly #byAlias = new Map<string, ServiceTemplate>();
  readonly #byName = new Map<string, ServiceTemplate>();
  /** Made once, because the dependency graph asks for it at each entry. */
  readonly #graphOptions: ReturnType<ServiceTemplates['graphOptions']>;

  /** Selections by the shared options alone, and by these together with the own options of a template. */
  readonly #sharedSelection: Selection;
  readonly #selections = new WeakMap<object, Selection>();

  constructor(templates: ReadonlyMap<string, ServiceTemplate>, shared: Readonly<Record<string, OptionFact>>) {
    this.#templates = templates;
    this.#shared = shared;
    this.#sharedSelection = new Selection(shared);
    for (const template of templates.values()) {
      const { key, aliases = [], displayName, onboarding } = template;
      for (const alias of aliases) this.#byAlias.set(alias, template);
      for (const name of [key, ...aliases, displayName, onboarding?.name ?? key]) {
        const folded = name.toLowerCase();
        if (!this.#byName.has(folded)) this.#byName.set(folded, template);
      }
    }
    this.#graphOptions = graphOptionsOf([shared, ...[...templates.values()].map(({ options }) => options ?? {})]);
  }

  list(): readonly ServiceTemplate[] {
    return [...this.#templates.values()];
  }

  get(configKey: string): ServiceTemplate | undefined {
    return this.#templates.get(configKey) ?? this.#byAlias.get(configKey);
  }

  placeOf({ key }: ServiceTemplate): readonly string[] {
    return key.startsWith(`${OWN_SECTION}_`) ? [OWN_SECTION, key.slice(OWN_SECTION.length + 1)] : [key];
  }

  formerPlacesOf(template: ServiceTemplate): readonly (readonly string[])[] {
    const [, member] = this.placeOf(template);
    const { aliases = [] } = template;
    // A former key of a block in the own section has the former name of that section in front.
    return aliases.map(alias => (member === undefined ? [alias] : [alias.slice(0, -member.length - 1), member]));
  }

  find(name: string): ServiceTemplate | undefined {
    return this.#byName.get(name.trim().toLowerCase());
  }

  option({ options, block }: ServiceTemplate, option: string): OptionFact | undefined {
    if (options !== undefined && Object.hasOwn(options, option)) return options[option];
    return Object.hasOwn(block, option) && Object.hasOwn(this.#shared, option) ? this.#shared[option] : undefined;
  }

  linksOf(block: Readonly<Record<string, unknown>>): readonly string[] {
    const names = [block.core_service, block.core_services]
      .flat()
      .flatMap(value => (typeof value === 'string' ? value.split(',') : []))
      .map(name => name.trim().toLowerCase())
      .filter(name => name !== '');
    return [...new Set(names.map(name => this.find(name)?.key ?? name))];
  }

  coreNeeds(template: ServiceTemplate, block: Values): readonly string[] {
    const { needs = [], dropped = [], droppedWhen } = template.relations?.core ?? {};
    if (droppedWhen === undefined) return needs;
    const isDropped =
      droppedWhen === 'built-from-source'
        ? this.#selection(template).isSources(block)
        : block[droppedWhen.option] !== droppedWhen.isNot;
    return isDropped ? needs.filter(needed => !dropped.includes(needed)) : needs;
  }

  mountOf({ configKey, block }: NamedBlock): string | undefined {
    const mounts = this.get(configKey)?.mounts;
    if (mounts === undefined) return undefined;
    const { path, when } = mounts;
    if (when !== undefined && !when.values.includes(String(block[when.option] ?? ''))) return undefined;
    const place = filled(path, block);
    return place && listedPath(place);
  }

  installDirectory({ configKey, key, block }: NamedBlock): string | undefined {
    const template = this.get(configKey);
    if (template?.install === undefined || 'with' in template.install) return undefined;
    const { directory, ownDirectory = directory } = template.install;
    const place = this.#selection(template).isOwn(block) ? ownDirectory : directory;
    return place && filled(place, { ...block, instance: directoryName(key) });
  }

  graphOptions() {
    return this.#graphOptions;
  }

  block(template: ServiceTemplate, instance = template.instance): Record<string, unknown> {
    const block = structuredClone(template.block);
    if (instance === undefined || instance === template.instance) return block;
    const from = `/${template.key}/${slugOf(template.instance ?? '')}`;
    const to = `/${template.key}/${slugOf(instance)}`;
    return {
      ...(replacePrefix(block, from, to) as Record<string, unknown>),
      process_name: `${template.displayName} ${instance}`,
    };
  }

  #selection({ options }: ServiceTemplate): Selection {
    if (options === undefined) return this.#sharedSelection;
    const known = this.#selections.get(options) ?? new Selection({ ...this.#shared, ...options });
    this.#selections.set(options, known);
    return known;
  }
}

function graphOptionsOf(facts: readonly Readonly<Record<string, OptionFact>>[]) {
  const named = (wanted: OptionFact['graph']): string[] =>
    facts.flatMap(options => Object.keys(options).filter(name => options[name]?.graph === wanted));
  return { shown: [...new Set(named('shown'))], read: [...new Set(named('read'))] };
}

/** Replaces names of options by their texts; undefined when one is not set. */
function filled(path: string, values: Values): string | undefined {
  const names = [...path.matchAll(OPTION)].map(([, name = '']) => name);
  if (!names.every(name => typeof values[name] === 'string')) return undefined;
  return path.replaceAll(OPTION, (_whole, name: string) => String(values[name]));
}

/** A single folder name, whatever the name of the instance is. */
function directoryName(instance: string): string {
  return slugOf(instance).replaceAll('/', '_').replace(/^\.+$/, '_');
}

/** The folder name of an instance: lower case, with underscores for blanks. */
function slugOf(instance: string): string {
  return instance.toLowerCase().replaceAll(' ', '_');
}

/** Replaces the folder in every text of the block, wherever it is followed by the end of a path element. */
function replacePrefix(value: unknown, from: string, to: string): unknown {
  if (typeof value === 'string') return value.replaceAll(new RegExp(`${from}(?![\\w-])`, 'g'), () => to);
  if (Array.isArray(value)) return value.map(member => replacePrefix(member, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replacePrefix(member, from, to)]));
}
