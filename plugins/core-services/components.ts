// Blocks that a request brings into being: instances of cores, and the components that a core depends on.
import path from 'node:path';
import { type Logger, type NamedBlock, Problem } from '#core';
import { parseLevel } from '#kit/log-level';
import type { ServiceTemplate, ServiceTemplates } from '../service-templates/contract.ts';
import { attachedInstance } from './attachment.ts';
import type { Draft } from './draft.ts';

type Options = Readonly<Record<string, unknown>>;

const MAX_NAME = 64;
const PORT_KEYS = ['port', 'frontend_port', 'backend_port', 'webdav_port'];
/** Identity is not an option. */
const FIXED = new Set(['process_name']);

/** What is not a letter, digit, blank, `_` or `-` is dropped. Throws a Problem 400 when it is too long. */
export function cleanInstanceName(name: string): string {
  const clean = name.replaceAll(/[^\p{L}\p{N} _-]/gu, '').trim();
  if (clean.length > MAX_NAME) throw new Problem(400, `instance_name has more than ${MAX_NAME} characters`);
  return clean === '' ? 'Instance' : clean;
}

export class Components {
  readonly #draft: Draft;
  readonly #templates: ServiceTemplates;
  readonly #logDir: string;
  readonly #log: Logger;

  constructor(draft: Draft, templates: ServiceTemplates, logDir: string, log: Logger) {
    this.#draft = draft;
    this.#templates = templates;
    this.#logDir = logDir;
    this.#log = log;
  }

  /** Unknown options are left out with a line in the log; null is no value. */
  apply(template: ServiceTemplate, place: readonly string[], options: Options): void {
    const block = this.#draft.block(place) ?? {};
    for (const [option, value] of Object.entries(options)) {
      if (value === null || value === undefined || FIXED.has(option)) continue;
      const isKnown = Object.hasOwn(block, option) || this.#templates.option(template, option) !== undefined;
      if (!isKnown) this.#log.warn(`${template.displayName} has no option ${option}; it is ignored`);
      else this.#draft.set(place, { [option]: option === 'log_level' ? parseLevel(String(value)) : value });
    }
  }

  /** Enables a service without instances. */
  single({ key }: ServiceTemplate): readonly string[] {
    this.#draft.set([key], { enabled: true });
    return [key];
  }

  /** The named instance of a core, made from its template when it is new. Throws a Problem when its folder would be another's. */
  instance(template: ServiceTemplate, name: string): readonly string[] {
    const existing = this.#draft.instances(template.key);
    const found =
      existing.find(({ key }) => key === name) ??
      existing.find(({ key }) => key.toLowerCase() === name.toLowerCase() && key !== template.instance);
    const twin = existing.find(({ key }) => slugOf(key) === slugOf(name));
    if (found === undefined && twin !== undefined && !isPlaceholder(twin, template)) {
      throw new Problem(400, `the instance ${name} would share the folder of ${twin.key}`);
    }
    const place = [template.key, 'instances', found?.key ?? name];
    if (found === undefined) this.#create(template, place, {});
    this.#draft.set(place, { enabled: true });
    this.#dropPlaceholder(template, place.at(-1) ?? '');
    return place;
  }

  /** Instances that a request without a name means: the enabled ones, else the first. */
  instancesInUse(template: ServiceTemplate): (readonly string[])[] {
    const enabled = this.#draft
      .instances(template.key)
      .filter(({ key, block }) => key !== template.instance && block.enabled === true)
      .map(({ path: place }) => place);
    return enabled.length > 0 ? enabled : [this.instance(template, template.instance ?? 'Default')];
  }

  /** The zurg instance of a core; its name is the core's own. */
  zurg(template: ServiceTemplate, core: ServiceTemplate): readonly string[] {
    const label = core.displayName;
    const directory = `/zurg/RD/${label}`;
    return this.#attached(template, core, {
      process_name: `Zurg w/ ${label}`,
      config_dir: directory,
      config_file: `${directory}/config.yml`,
      command: `${directory}/zurg`,
      port: this.#freePort(template, Number(template.block.port)),
    });
  }

  /** The rclone instance of a core, which mounts what its provider serves. */
  rclone(template: ServiceTemplate, core: ServiceTemplate, provider: string): readonly string[] {
    const label = core.displayName;
    const isProvider = core.key === 'decypharr' || core.key === 'infinidysk';
    const mountName = isProvider ? core.key : label.toLowerCase().replaceAll(' ', '_');
    const zurg = isProvider ? undefined : attachedInstance(this.#draft.instances('zurg'), core, this.#templates);
    const place = this.#attached(template, core, {
      process_name: `Rclone w/ ${label}`,
      key_type: isProvider ? core.key : provider,
      mount_name: mountName,
      log_file: path.join(this.#logDir, `rclone_w_${mountName}.log`),
      zurg_enabled: !isProvider,
      decypharr_enabled: core.key === 'decypharr',
      zurg_config_file: isProvider ? '' : String(zurg?.block.config_file ?? ''),
    });
    if (core.key !== 'decypharr') return place;
    for (const other of this.#draft.instances(template.key)) {
      const isOther = other.key !== place.at(-1) && other.block.decypharr_enabled === true;
      if (isOther && other.block.enabled === true) this.#draft.set(other.path, { enabled: false });
    }
    return place;
  }

  /** Adds databases to those that the server is to have. */
  addDatabases(names: readonly string[]): void {
    const databases = (this.#draft.block(['postgres'])?.databases ?? []) as { name: string; enabled: boolean }[];
    const missing = names.filter(name => !databases.some(database => database.name === name && database.enabled));
    if (missing.length === 0) return;
    const kept = databases.filter(database => !missing.includes(database.name));
    this.#draft.set(['postgres'], { databases: [...kept, ...missing.map(name => ({ name, enabled: true }))] });
  }

  #attached(template: ServiceTemplate, core: ServiceTemplate, fields: Record<string, unknown>): readonly string[] {
    const existing = attachedInstance(
      this.#draft.instances(template.key).filter(instance => !isPlaceholder(instance, template)),
      core,
      this.#templates,
    );
    const place = existing?.path ?? [template.key, 'instances', core.displayName];
    if (existing === undefined) this.#create(template, place, { ...fields, core_service: core.key });
    this.#draft.set(place, { enabled: true });
    this.#dropPlaceholder(template, place.at(-1) ?? '');
    return place;
  }

  #create(template: ServiceTemplate, place: readonly string[], fields: Record<string, unknown>): void {
    const block = { ...this.#templates.block(template, place.at(-1)), ...fields };
    const port = typeof block.port === 'number' ? { port: this.#freePort(template, block.port) } : {};
    this.#draft.set(place, { ...block, ...port, process_name: this.#freeName(String(block.process_name)) });
  }

  /** The template's own instance stands for none while it is disabled. */
  #dropPlaceholder(template: ServiceTemplate, kept: string): void {
    const placeholder = this.#draft.instances(template.key).find(instance => isPlaceholder(instance, template));
    if (placeholder !== undefined && placeholder.key !== kept) this.#draft.remove(placeholder.path);
  }

  /** Upward from the template's port to one that neither an instance of the kind nor an enabled service has. */
  #freePort(template: ServiceTemplate, from: number): number {
    const taken = new Set(
      [
        ...this.#draft.processes().filter(block => block.enabled === true),
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
    const taken = new Set(this.#draft.processes().map(block => String(block.process_name).toLowerCase()));
    let name = wanted;
    for (let count = 2; taken.has(name.toLowerCase()); count += 1) name = `${wanted} ${count}`;
    return name;
  }
}

function isPlaceholder({ key, block }: NamedBlock, template: ServiceTemplate): boolean {
  return key === template.instance && block.enabled !== true;
}

function slugOf(instance: string): string {
  return instance.toLowerCase().replaceAll(' ', '_');
}
