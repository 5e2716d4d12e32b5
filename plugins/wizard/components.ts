// Creates the blocks that a request needs: instances of core services, and the components on which these depend.
import { type ContributionList, type NamedBlock, Problem } from '#core';
import { PORT_KEYS } from '#kit/block-ports';
import { parseLevel } from '#kit/log-level';
import { FORBIDDEN_KEYS } from '#kit/plain-data';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';
import { answerOf } from './answer-of.ts';
import { attachedInstance } from './attachment.ts';
import type { WizardComponent } from './contract.ts';
import type { Draft } from './draft.ts';

type Options = Readonly<Record<string, unknown>>;

const MAX_NAME = 64;
/** Members that identify a block and cannot be set as options. */
const IDENTITY_KEYS = new Set(['process_name']);

/**
 * Drops characters other than letters with their marks, digits, blanks, `_` and `-`. Throws a Problem 400 for a name
 * that is too long or is a forbidden key such as `__proto__`.
 */
export function cleanInstanceName(name: string): string {
  const clean = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N} _-]/gu, '')
    .replace(/^[\p{M} ]+/u, '')
    .trim();
  if (clean.length > MAX_NAME)
    throw new Problem(400, `instance_name has more than ${MAX_NAME} characters; choose a shorter one`);
  if (FORBIDDEN_KEYS.has(clean)) throw new Problem(400, `instance_name '${clean}' is not allowed; choose another one`);
  return clean === '' ? 'Instance' : clean;
}

export class Components {
  readonly #draft: Draft;
  readonly #templates: ServiceTemplates;
  readonly #parts: ContributionList<WizardComponent>;
  readonly #warn: (line: string) => void;

  constructor(
    draft: Draft,
    templates: ServiceTemplates,
    parts: ContributionList<WizardComponent>,
    warn: (line: string) => void,
  ) {
    this.#draft = draft;
    this.#templates = templates;
    this.#parts = parts;
    this.#warn = warn;
  }

  /**
   * Sets options of the block at `place`. Unknown ones are left out with a line in the log; null values are ignored.
   */
  apply(template: ServiceTemplate, place: readonly string[], options: Options): void {
    const block = this.#draft.block(place) ?? {};
    for (const [option, value] of Object.entries(options)) {
      if (value === null || value === undefined || IDENTITY_KEYS.has(option)) continue;
      const isKnown = Object.hasOwn(block, option) || this.#templates.option(template, option) !== undefined;
      if (!isKnown) this.#warn(`${template.displayName} has no option ${option}; it is ignored`);
      else this.#draft.set(place, { [option]: option === 'log_level' ? parseLevel(String(value)) : value });
    }
  }

  /** Enables a service that has no instances, and returns its place. */
  single({ key }: ServiceTemplate): readonly string[] {
    this.#draft.set([key], { enabled: true });
    return [key];
  }

  /**
   * The place of the named instance of a core, which is created from its template if it is new. Throws a Problem 400
   * when another instance uses its folder.
   */
  instance(template: ServiceTemplate, name: string): readonly string[] {
    const existing = this.#draft.instances(template.key);
    const found =
      existing.find(({ key }) => key === name) ??
      existing.find(({ key }) => folded(key) === folded(name) && key !== template.instance);
    const twin = existing.find(({ key }) => slugOf(key) === slugOf(name));
    if (found === undefined && twin !== undefined && !isPlaceholder(twin, template)) {
      const instances = `the instance ${name} of ${template.displayName} would share the folder of ${twin.key}`;
      throw new Problem(400, `${instances}; choose another name`);
    }
    const place = [template.key, 'instances', found?.key ?? name];
    if (found === undefined) this.#create(template, place, {});
    this.#draft.set(place, { enabled: true });
    this.#dropPlaceholder(template, place.at(-1) ?? '');
    return place;
  }

  /** The instances that a request without a name refers to: the enabled ones, otherwise that of the template. */
  instancesInUse(template: ServiceTemplate): (readonly string[])[] {
    const enabled = this.#draft
      .instances(template.key)
      .filter(({ key, block }) => key !== template.instance && block.enabled === true)
      .map(({ path: place }) => place);
    for (const place of enabled) this.#draft.set(place, { enabled: true });
    return enabled.length > 0 ? enabled : [this.instance(template, template.instance ?? 'Default')];
  }

  /** Whether this is a component of which each core service has its own instance. */
  isAttached({ kind, instance }: ServiceTemplate): boolean {
    return kind === 'dependent' && instance !== undefined;
  }

  /** The instance of a component that belongs to a core; created if there is none. */
  attached(template: ServiceTemplate, core: ServiceTemplate, provider: string | undefined): readonly string[] {
    const part = [...this.#parts].find(({ value }) => value.configKey === template.key);
    const asked = <Value>(ask: (component: WizardComponent) => Value): Value | undefined =>
      part &&
      answerOf(part.owner, `${template.displayName} cannot be set up for ${core.displayName}`, () => ask(part.value));
    const attachedTo = (key: string) => attachedInstance(this.#draft.instances(key), core, this.#templates);
    const given = asked(component => component.attach({ core, provider, attachedTo }));
    const named = this.#draft.instances(template.key).filter(instance => !isPlaceholder(instance, template));
    const existing = attachedInstance(named, core, this.#templates);
    const place = existing?.path ?? [template.key, 'instances', core.displayName];
    if (existing === undefined) {
      const known = withCore(template.onboarding?.attached ?? {}, core);
      this.#create(template, place, { ...known, ...given?.values, core_service: core.key });
    }
    this.#draft.set(place, { enabled: true });
    this.#dropPlaceholder(template, place.at(-1) ?? '');
    for (const other of this.#draft.instances(template.key)) {
      const isExcluded = other.key !== place.at(-1) && asked(() => given?.excludes?.(other)) === true;
      if (isExcluded && other.block.enabled === true) this.#draft.set(other.path, { enabled: false });
    }
    return place;
  }

  #create(template: ServiceTemplate, place: readonly string[], fields: Record<string, unknown>): void {
    const block = { ...this.#templates.block(template, place.at(-1)), ...fields };
    const port = typeof block.port === 'number' ? { port: this.#freePort(template, block.port) } : {};
    this.#draft.set(place, { ...block, ...port, process_name: this.#freeName(String(block.process_name)) });
  }

  /** Removes the template's own instance while that is disabled, because it is only a placeholder. */
  #dropPlaceholder(template: ServiceTemplate, kept: string): void {
    const placeholder = this.#draft.instances(template.key).find(instance => isPlaceholder(instance, template));
    if (placeholder !== undefined && placeholder.key !== kept) this.#draft.remove(placeholder.path);
  }

  /** The first port from `from` on that no instance of this template and no enabled service uses. */
  #freePort(template: ServiceTemplate, from: number): number {
    const taken = new Set(
      [
        ...this.#draft.processes().flatMap(({ block }) => (block.enabled === true ? [block] : [])),
        ...this.#draft
          .instances(template.key)
          .filter(instance => !isPlaceholder(instance, template))
          .map(({ block }) => block),
      ].flatMap(block => PORT_KEYS.map(key => block[key])),
    );
    let port = from;
    while (taken.has(port)) port += 1;
    return port;
  }

  #freeName(wanted: string): string {
    const taken = new Set(this.#draft.processes().map(({ processName }) => processName.toLowerCase()));
    let name = wanted;
    for (let count = 2; taken.has(name.toLowerCase()); count += 1) name = `${wanted} ${count}`;
    return name;
  }
}

function isPlaceholder({ key, block }: NamedBlock, template: ServiceTemplate): boolean {
  return key === template.instance && block.enabled !== true;
}

function withCore(values: Options, core: ServiceTemplate): Options {
  const fill = (value: unknown) => (typeof value === 'string' ? value.replaceAll('{core}', core.displayName) : value);
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fill(value)]));
}

/** What two names have in common that people take for the same; a file may spell a name as no request does. */
function folded(name: string): string {
  return name.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

function slugOf(instance: string): string {
  return instance.toLowerCase().replaceAll(' ', '_');
}
