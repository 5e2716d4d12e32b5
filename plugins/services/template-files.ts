// Reads the template files: first the product's, then the user's, which may replace those of the product.
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Logger } from '#core';
import { GuardedDirectory } from '#kit/guarded-directory';
import { refuseCostlyJson } from '#kit/nesting';
import type { OptionFact, ServiceTemplate } from './template.ts';

/** Far more than any template has. */
const MAX_BYTES = 1024 * 1024;

/** The real paths of the two folders that templates call `/config` and `/log`. */
export interface Places {
  readonly configDir: string;
  readonly logDir: string;
}

/**
 * Templates sorted by key. The first directory has the product's own templates: these are read at once and not checked
 * against the schema, because the product's tests do that. A file of another directory that does not fit is left out,
 * and logged with the reason.
 */
export async function readTemplates(
  directories: readonly string[],
  places: Places,
  log: Logger,
): Promise<ReadonlyMap<string, ServiceTemplate>> {
  const templates = new Map<string, ServiceTemplate>();
  for (const directory of directories) {
    const isOwn = directory === directories[0];
    const listed = isOwn ? await readdir(directory) : await namesIn(directory, log);
    const names = listed.filter(candidate => candidate.endsWith('.json')).sort();
    const read = async (file: string): Promise<string> => (isOwn ? readFileSync(file, 'utf8') : await textIn(file));
    const texts = await Promise.allSettled(names.map(name => read(path.join(directory, name))));
    for (const [index, name] of names.entries()) {
      try {
        const value = relocate(JSON.parse(textOf(texts[index])), places);
        const template = isOwn ? (value as ServiceTemplate) : await checked(value);
        requireName(template, name);
        if (!isOwn) requireNoControl(template, templates.get(template.key));
        templates.set(template.key, template);
      } catch (error) {
        log.error(`${path.join(directory, name)} is not used`, error);
      }
    }
  }
  return new Map([...templates].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function requireName({ key }: ServiceTemplate, name: string): void {
  if (`${key}.json` !== name) throw new Error(`its key is '${key}', which must be its name`);
}

/** Refuses a user's template that gives the rights of the host to another command than the product's own does. */
function requireNoControl(template: ServiceTemplate, shipped: ServiceTemplate | undefined): void {
  if (template.launch?.asController === true && !hasSameLaunch(template, shipped))
    throw new Error(
      'only the product itself gives a program the rights of the host, and only for its own command; leave out asController, or the changes of block.command, block.env and launch',
    );
}

/** The options are a part of the product, as its templates are, and are read and trusted in the same way. */
export function readSharedOptions(file: string): Readonly<Record<string, OptionFact>> {
  return JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, OptionFact>>;
}

/** Imports the schema only when a user has templates, because it takes a while to build. */
async function checked(value: unknown): Promise<ServiceTemplate> {
  const { serviceTemplate } = await import('./template.ts');
  return parse(serviceTemplate, value);
}

function hasSameLaunch(template: ServiceTemplate, shipped: ServiceTemplate | undefined): boolean {
  if (shipped === undefined) return false;
  const launchOf = ({ launch, block: { command, env } }: ServiceTemplate) => ({ launch, command, env });
  return isDeepStrictEqual(launchOf(template), launchOf(shipped));
}

/** Changes the value in place, because the caller has just parsed it. */
function relocate(value: unknown, places: Places): unknown {
  if (typeof value === 'string') {
    if (!value.includes('/config') && !value.includes('/log')) return value;
    return value.replaceAll(/(?<=^|[=:])\/(config|log)(?=\/|$)/g, (_whole, folder: string) =>
      folder === 'config' ? places.configDir : places.logDir,
    );
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const moved = relocate(members[key], places);
    if (moved !== members[key]) members[key] = moved;
  }
  return value;
}

function textOf(read: PromiseSettledResult<string> | undefined): string {
  if (read?.status !== 'fulfilled') throw read?.reason;
  return read.value;
}

/** The names in a directory of users. One that is no directory costs only their templates, never the product's own. */
async function namesIn(directory: string, log: Logger): Promise<string[]> {
  try {
    const opened = await GuardedDirectory.open(directory);
    return await opened.names().finally(() => opened.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.error(`no template of ${directory} is used`, error);
    return [];
  }
}

/** The text of a file that others may have made. Throws for one that is no regular file, and could be read for ever. */
async function textIn(file: string): Promise<string> {
  const bytes = await GuardedDirectory.at(file, (directory, name) => directory.read(name, MAX_BYTES));
  if (bytes === null) throw new Error('it is gone');
  const text = bytes.toString('utf8');
  refuseCostlyJson(text);
  return text;
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}
