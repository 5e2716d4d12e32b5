// Turns a selection into the resulting configuration and the processes to start, in order. Nothing is saved here.
import { type ContributionList, type NamedBlock, Problem } from '#core';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';
import { answerOf } from './answer-of.ts';
import { Components, cleanInstanceName } from './components.ts';
import type { WizardComponent, WizardPrerequisite, WizardUser } from './contract.ts';
import { type DebridKey, debridKeys } from './debrid-providers.ts';
import { Draft } from './draft.ts';
import type { ChosenCore, ChosenOptional, Selection } from './selection.ts';

/** One requested service: the processes started before it, its own, and those started after it. */
export interface Unit {
  /** The service's name as the client sent it. */
  readonly service: string;
  /** The choice that asked for this service; null when the service comes with others that were chosen. */
  readonly chosen: ChosenCore | ChosenOptional | null;
  readonly before: readonly string[];
  readonly main: readonly string[];
  readonly after: readonly string[];
}

export interface Refusal {
  readonly service: string;
  readonly error: string;
  /** The process that cannot be started, if it is not the service's own. */
  readonly component: string | null;
}

export interface Candidate {
  readonly updates: Readonly<Record<string, unknown>>;
  readonly units: readonly Unit[];
  /** Services that cannot be set up as requested; they do not prevent the others. */
  readonly refusals: readonly Refusal[];
  /** All processes as they would be with `updates`. */
  readonly blocks: readonly NamedBlock[];
}

export interface CandidateContext {
  readonly root: Readonly<Record<string, unknown>>;
  readonly templates: ServiceTemplates;
  readonly warn: (line: string) => void;
  readonly parts: ContributionList<WizardComponent>;
  readonly prerequisites: ContributionList<WizardPrerequisite>;
  /** Components that installed releases contain themselves. */
  readonly builtIn: ReadonlySet<string>;
}

/** `unwanted` has the keys of services that would come with chosen ones, but are to be left out. */
export function createCandidate(
  selection: Selection,
  context: CandidateContext,
  unwanted: ReadonlySet<string>,
): Candidate {
  return new CandidateBuilder(context).build(selection, unwanted);
}

type Place = readonly string[];

class CandidateBuilder {
  readonly #templates: ServiceTemplates;
  readonly #draft: Draft;
  readonly #components: Components;
  readonly #builtIn: ReadonlySet<string>;
  readonly #prerequisites: ContributionList<WizardPrerequisite>;

  constructor({ root, templates, warn, builtIn, parts, prerequisites }: CandidateContext) {
    this.#builtIn = builtIn;
    this.#prerequisites = prerequisites;
    this.#templates = templates;
    this.#draft = new Draft(root);
    this.#components = new Components(this.#draft, templates, parts, warn);
  }

  build({ cores, optionals }: Selection, unwanted: ReadonlySet<string>): Candidate {
    const refusals: Refusal[] = [];
    const isFirst = ({ template }: ChosenCore): boolean => template.onboarding?.first === true;
    const isLate = ({ template }: ChosenOptional): boolean => template.onboarding?.afterCores === true;
    const made = (service: string, make: () => Unit): Unit[] => {
      try {
        return [this.#draft.wholly(make)];
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refusals.push({ service, error: error.message, component: null });
        return [];
      }
    };
    const core = (chosen: ChosenCore): Unit[] => made(chosen.request.name, () => this.#core(chosen));
    const optional = (chosen: ChosenOptional): Unit[] => made(chosen.name, () => this.#optional(chosen));
    const chosen = [
      ...cores.filter(isFirst).flatMap(core),
      ...optionals.filter(chosen => !isLate(chosen)).flatMap(optional),
      ...cores.filter(chosen => !isFirst(chosen)).flatMap(core),
      ...optionals.filter(isLate).flatMap(optional),
    ];
    // Services that come with others are left out, too, when no chosen service is left.
    const units = [...chosen, ...(chosen.length === 0 ? [] : this.#wanted(unwanted))];
    return { updates: this.#draft.updates, units, refusals, blocks: this.#draft.processes() };
  }

  #optional(chosen: ChosenOptional): Unit {
    const { template, name, options } = chosen;
    const place = this.#components.single(template);
    this.#components.apply(template, place, options);
    const needs = (template.relations?.nonCore ?? []).flatMap(key => {
      const needed = this.#template(key);
      return needed === undefined || needed.onboarding?.roles.includes('core') === true ? [] : [needed];
    });
    const before = needs.map(needed => this.#nameAt(this.#components.single(needed)));
    return {
      service: name,
      chosen,
      before: this.#withPrerequisites(template, [place], before),
      main: [this.#nameAt(place)],
      after: [],
    };
  }

  #core(chosen: ChosenCore): Unit {
    const { template, request, options } = chosen;
    const keys = this.#keysOf(chosen);
    const places = this.#mainPlaces(chosen);
    for (const place of places) {
      this.#components.apply(template, place, options[template.key] ?? {});
      if (place.length === 1) continue;
      // The client may call the instance as it is called, or as it was named in the request.
      const names = new Set([place.at(-1) ?? '', request.instance_name ?? '']);
      for (const name of names) this.#components.apply(template, place, options[name] ?? {});
    }
    const [first = []] = places;
    const needed = this.#needs(template, first);
    const late = template.onboarding?.lateDependencies ?? [];
    const started = needed.map(component => ({
      name: this.#nameAt(this.#dependency(component, chosen, keys)),
      isLate: late.includes(component.key),
    }));
    this.#giveKeys(template, first, needed, keys);
    return {
      service: request.name,
      chosen,
      before: this.#withPrerequisites(
        template,
        places,
        started.filter(({ isLate }) => !isLate).map(({ name }) => name),
      ),
      main: places.map(place => this.#nameAt(place)),
      after: started.filter(({ isLate }) => isLate).map(({ name }) => name),
    };
  }

  #mainPlaces({ template, request }: ChosenCore): Place[] {
    if (template.instance === undefined) return [this.#components.single(template)];
    const { instance_name: name } = request;
    if (name === undefined || name === null || name === '') return this.#components.instancesInUse(template);
    return [this.#components.instance(template, cleanInstanceName(name))];
  }

  /** Called before anything is changed, because it may refuse the request. */
  #keysOf({ template, request }: ChosenCore): DebridKey[] {
    const place = template.onboarding?.debridKey;
    if (place === undefined) return [];
    const keys = debridKeys(
      template.displayName,
      listOf(request.debrid_service),
      listOf(request.debrid_key),
      template.onboarding?.debridProviders ?? [],
    );
    const [, second] = 'component' in place ? keys : [];
    if (second !== undefined)
      throw new Problem(
        400,
        `${template.displayName} takes one provider; leave out ${second.label}, which would be a second`,
      );
    return keys;
  }

  /** The components that the core needs with its present block and does not contain, in their start order. */
  #needs(template: ServiceTemplate, place: Place): ServiceTemplate[] {
    return this.#templates
      .coreNeeds(template, this.#draft.block(place) ?? {})
      .filter(needed => !this.#builtIn.has(needed))
      .flatMap(needed => this.#template(needed) ?? []);
  }

  #dependency(component: ServiceTemplate, { template, options }: ChosenCore, keys: readonly DebridKey[]): Place {
    const place = this.#dependencyPlace(component, template, keys);
    this.#components.apply(component, place, options[component.key] ?? {});
    if (place.length > 1) this.#components.apply(component, place, options[place.at(-1) ?? ''] ?? {});
    return place;
  }

  #dependencyPlace(component: ServiceTemplate, core: ServiceTemplate, keys: readonly DebridKey[]): Place {
    return this.#components.isAttached(component)
      ? this.#components.attached(component, core, keys[0]?.provider)
      : this.#components.single(component);
  }

  #giveKeys(template: ServiceTemplate, place: Place, needed: readonly ServiceTemplate[], keys: readonly DebridKey[]) {
    const target = template.onboarding?.debridKey;
    if (target === undefined) return;
    for (const { provider, key } of keys) {
      if ('option' in target) {
        this.#draft.set(place, { [target.option]: { [provider]: key } });
        continue;
      }
      const component = needed.find(candidate => candidate.key === target.component);
      const taken = component?.onboarding?.takesKey;
      const variable = target.variables?.[provider];
      if (component === undefined) {
        if (variable !== undefined) this.#draft.set(place, { env: { [variable]: key } });
      } else if (taken?.provider === provider)
        this.#draft.set(this.#dependencyPlace(component, template, keys), { [taken.option]: key });
    }
  }

  /** Configures the prerequisites that the instances at `places` use, and returns their names followed by `before`. */
  #withPrerequisites(template: ServiceTemplate, places: readonly Place[], before: readonly string[]): string[] {
    return [...this.#prerequisites].reduce<string[]>(
      (names, { owner: plugin, value: prerequisite }) => {
        const server = this.#template(prerequisite.configKey);
        if (server === undefined || template.key === server.key) return names;
        const { brings = [] } = template.onboarding ?? {};
        const isKnown = [...brings, ...(template.relations?.core?.needs ?? [])].includes(server.key);
        const users = places
          .map(place => ({ template, block: this.#blockAt(place) }))
          .filter((user: WizardUser) => isKnown || isUsed(prerequisite, user));
        if (users.length === 0) return names;
        const what = `${server.displayName} cannot be set up for ${template.displayName}`;
        const serve = () => prerequisite.serve(this.#draft.block([server.key]) ?? {}, users);
        this.#draft.set([server.key], { ...answerOf(plugin, what, serve) });
        const name = this.#nameAt(this.#components.single(server));
        return [name, ...names.filter(other => other !== name)];
      },
      [...before],
    );
  }

  /**
   * Services that are enabled because an enabled process has the option set that asks for them: of each the first
   * instance, unless an instance is enabled already.
   */
  #wanted(unwanted: ReadonlySet<string>): Unit[] {
    return this.#templates.list().flatMap(template => {
      const option = template.onboarding?.wantedBy;
      if (option === undefined || unwanted.has(template.key)) return [];
      const isWanted = this.#draft.processes().some(({ block }) => block.enabled === true && block[option] === true);
      const isThere = this.#draft.instances(template.key).some(({ block }) => block.enabled === true);
      if (!isWanted || isThere) return [];
      const [place = []] = this.#components.instancesInUse(template);
      return [{ service: template.key, chosen: null, before: [], main: [this.#nameAt(place)], after: [] }];
    });
  }

  #blockAt(place: Place): NamedBlock {
    const block = this.#draft.block(place) ?? {};
    const key = place.at(-1) ?? '';
    return {
      processName: String(block.process_name),
      path: place,
      configKey: place[0] ?? '',
      key,
      isHost: false,
      block,
    };
  }

  #template(key: string): ServiceTemplate | undefined {
    return this.#templates.get(key);
  }

  #nameAt(place: Place): string {
    return String(this.#draft.block(place)?.process_name ?? place.join('.'));
  }
}

function listOf(value: string | readonly (string | null)[] | null | undefined): (string | null)[] {
  if (value === null || value === undefined) return [];
  return typeof value === 'string' ? [value] : [...value];
}

/** false when the contribution fails: the host has logged the fault, which must not hinder other services. */
function isUsed(prerequisite: WizardPrerequisite, user: WizardUser): boolean {
  try {
    return prerequisite.isUsedBy(user);
  } catch {
    return false;
  }
}
