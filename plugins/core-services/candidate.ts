// Turns a selection into the configuration it would make and the processes to start, in order. Nothing is saved here.
import { type Logger, Problem } from '#core';
import type { ServiceTemplate, ServiceTemplates } from '../service-templates/contract.ts';
import { Components, cleanInstanceName } from './components.ts';
import { type DebridKey, debridKeys, RIVEN_VARIABLES, ZURG_PROVIDER } from './debrid-providers.ts';
import { Draft } from './draft.ts';
import type { ChosenCore, ChosenOptional, Selection } from './selection.ts';

/** One requested service: what is started before it, itself, and what is started after it. */
export interface Unit {
  /** As it was sent. */
  readonly service: string;
  readonly before: readonly string[];
  readonly main: readonly string[];
  readonly after: readonly string[];
}

interface Refusal {
  readonly service: string;
  readonly error: string;
}

export interface Candidate {
  readonly updates: Readonly<Record<string, unknown>>;
  readonly units: readonly Unit[];
  /** Services that cannot be set up as they were asked for; the others are not held up. */
  readonly refusals: readonly Refusal[];
}

export interface CandidateContext {
  readonly root: Readonly<Record<string, unknown>>;
  readonly templates: ServiceTemplates;
  readonly logDir: string;
  readonly log: Logger;
  /** Components that the installed releases bring along themselves. */
  readonly builtIn: ReadonlySet<string>;
}

export function createCandidate(selection: Selection, context: CandidateContext): Candidate {
  return new CandidateBuilder(context).build(selection);
}

type Place = readonly string[];

class CandidateBuilder {
  readonly #templates: ServiceTemplates;
  readonly #draft: Draft;
  readonly #components: Components;
  readonly #builtIn: ReadonlySet<string>;

  constructor({ root, templates, logDir, log, builtIn }: CandidateContext) {
    this.#builtIn = builtIn;
    this.#templates = templates;
    this.#draft = new Draft(root);
    this.#components = new Components(this.#draft, templates, logDir, log);
  }

  build({ cores, optionals }: Selection): Candidate {
    const refusals: Refusal[] = [];
    const isFirst = ({ template }: ChosenCore): boolean => template.onboarding?.first === true;
    const isLate = ({ template }: ChosenOptional): boolean => template.onboarding?.afterCores === true;
    const core = (chosen: ChosenCore): Unit[] => {
      try {
        return [this.#core(chosen)];
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refusals.push({ service: chosen.request.name, error: error.message });
        return [];
      }
    };
    const units = [
      ...cores.filter(isFirst).flatMap(core),
      ...optionals.filter(chosen => !isLate(chosen)).map(chosen => this.#optional(chosen)),
      ...cores.filter(chosen => !isFirst(chosen)).flatMap(core),
      ...optionals.filter(isLate).map(chosen => this.#optional(chosen)),
      ...this.#libraryHunter(),
    ];
    return { updates: this.#draft.updates, units, refusals };
  }

  #optional({ template, name, options }: ChosenOptional): Unit {
    const place = this.#components.single(template);
    this.#components.apply(template, place, options);
    const needs = (template.relations?.nonCore ?? []).flatMap(key => {
      const needed = this.#template(key);
      return needed === undefined || needed.onboarding?.roles.includes('core') === true ? [] : [needed];
    });
    const before = needs.map(needed => this.#nameAt(this.#components.single(needed)));
    return {
      service: name,
      before: this.#withDatabase(template, [place], before),
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
      const instance = request.instance_name ?? place.at(-1) ?? '';
      if (place.length > 1) this.#components.apply(template, place, options[instance] ?? {});
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
      before: this.#withDatabase(
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

  /** Checked before anything is changed. */
  #keysOf({ template, request }: ChosenCore): DebridKey[] {
    const place = template.onboarding?.debridKey;
    if (place === undefined) return [];
    const labels = listOf(request.debrid_service).filter(label => label !== null);
    const keys = debridKeys(labels, listOf(request.debrid_key), template.onboarding?.debridProviders ?? []);
    const [, second] = 'component' in place ? keys : [];
    if (second !== undefined)
      throw new Problem(400, `${template.displayName} takes one provider; ${second.label} would be a second`);
    return keys;
  }

  /** Static dependencies of the core as it is configured, in their order of starting. */
  #needs({ relations }: ServiceTemplate, place: Place): ServiceTemplate[] {
    const { needs = [], dropped = [], droppedWhen } = relations?.core ?? {};
    const block = this.#draft.block(place) ?? {};
    const drops = {
      'built-from-source': block.branch_enabled === true || (block.commit_sha ?? '') !== '',
      'no-external-mount': block.mount_type !== 'external_rclone',
    };
    const isDropped = droppedWhen !== undefined && drops[droppedWhen];
    return needs
      .filter(needed => !isDropped || !dropped.includes(needed))
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
    if (component.key === 'zurg') return this.#components.zurg(component, core);
    if (component.key === 'rclone') return this.#components.rclone(component, core, keys[0]?.provider ?? ZURG_PROVIDER);
    return this.#components.single(component);
  }

  #giveKeys(template: ServiceTemplate, place: Place, needed: readonly ServiceTemplate[], keys: readonly DebridKey[]) {
    const target = template.onboarding?.debridKey;
    if (target === undefined) return;
    for (const { provider, key } of keys) {
      if ('option' in target) this.#draft.set(place, { [target.option]: { [provider]: key } });
      else if (!needed.some(component => component.key === target.component)) {
        const variable = RIVEN_VARIABLES[provider];
        if (variable !== undefined) this.#draft.set(place, { env: { [variable]: key } });
      } else if (provider === ZURG_PROVIDER) {
        const component = this.#template(target.component);
        if (component !== undefined) this.#draft.set(this.#components.zurg(component, template), { api_key: key });
      }
    }
  }

  /** The database server comes first where one of the blocks keeps its data in it, and has their databases. */
  #withDatabase(template: ServiceTemplate, places: readonly Place[], before: readonly string[]): string[] {
    const server = this.#template('postgres');
    const uses = places.filter(
      place =>
        template.onboarding?.needsPostgres === true ||
        template.relations?.core?.needs.includes('postgres') === true ||
        this.#draft.block(place)?.postgres_enabled === true,
    );
    if (server === undefined || template.key === server.key || uses.length === 0) return [...before];
    this.#components.addDatabases(uses.flatMap(place => this.#databasesOf(template, place)));
    const name = this.#nameAt(this.#components.single(server));
    return [name, ...before.filter(other => other !== name)];
  }

  #databasesOf({ databases = [], instance }: ServiceTemplate, place: Place): string[] {
    const block = this.#draft.block(place) ?? {};
    const key = place.at(-1) ?? '';
    const slug = key.toLowerCase().replaceAll(' ', '_');
    return databases
      .filter(({ engine }) => engine === 'postgres')
      .flatMap(({ name, instanceName, role }) => {
        const own = block[role === 'log' ? 'postgres_log_db' : 'postgres_main_db'] ?? block.postgres_database;
        if (typeof own === 'string' && own !== '') return [own];
        const isNamed = instance !== undefined && key !== instance && instanceName !== undefined;
        return isNamed ? [instanceName.replace('<slug>', slug)] : (name ?? []);
      });
  }

  /** NeutArr works for instances that ask for it: its first is enabled with the first of them. */
  #libraryHunter(): Unit[] {
    const hunter = this.#template('neutarr');
    const isWanted = this.#draft.processes().some(block => block.enabled === true && block.use_neutarr === true);
    if (hunter === undefined || !isWanted) return [];
    if (this.#draft.instances(hunter.key).some(({ block }) => block.enabled === true)) return [];
    const [place = []] = this.#components.instancesInUse(hunter);
    return [{ service: hunter.key, before: [], main: [this.#nameAt(place)], after: [] }];
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
