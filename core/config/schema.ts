// The schema of the whole configuration: the host's own part, and what plugins add to it at run time.
import { z } from 'zod';
import type { BlockTemplate, ConfigObject, ConfigSection, NamedBlock } from '../contract/config.ts';
import { isObject } from '../kit/plain-object.ts';
import { type ConfigPath, merge, valueAt, withEdit } from './layers.ts';

const names = z.array(z.string());
const port = z.number().int().min(1).max(65_535);

/** The host's own part of `dumb`. Every default is harmless to write back. */
const productSchema = z.looseObject({
  log_level: z.string().default('INFO'),
  log_name: z.string().min(1).default('DUMB'),
  log_dir: z.string().optional(),
  log_count: z.number().int().min(0).default(2),
  log_size: z.union([z.string(), z.number()]).default('10M'),
  color_log: z.boolean().default(true),
  onboarding_completed: z.boolean().default(false),
  ui: z
    .looseObject({ log_timestamp: z.looseObject({}).default({}), sidebar: z.looseObject({}).default({}) })
    .prefault({})
    .describe('preferences of the web frontend; its members are its own'),
  api_service: z
    .looseObject({
      enabled: z.boolean().default(true),
      process_name: z.string().min(1).default('DUMB API'),
      log_level: z.string().default('INFO'),
      host: z.string().min(1).default('127.0.0.1'),
      port: port.default(8000),
      docs_enabled: z.boolean().default(true),
      mask_secrets: z.boolean().default(false),
      trusted_proxies: names.default([]).describe('addresses or networks whose X-Forwarded-For is believed'),
      file_roots: names.default([]).describe("further directories of services' own files"),
    })
    .prefault({}),
  frontend: z
    .looseObject({
      enabled: z.boolean().default(false),
      process_name: z.string().min(1).default('DUMB Frontend'),
      host: z.string().min(1).default('0.0.0.0'),
      port: port.default(3005),
      origins: names.default([]).describe('origins that browsers may call from'),
      env: z.record(z.string(), z.unknown()).default({}),
    })
    .prefault({}),
  plugins: z
    .looseObject({
      enabled: names.default([]).describe('only these plugins; empty: all'),
      disabled: names.default([]),
      dirs: names.default([]).describe('more directories of plugin folders'),
      override: names.default([]).describe('plugins that a later directory may replace'),
      required: names.default(['auth', 'config', 'process']),
    })
    .prefault({}),
});

const rootSchema = z.looseObject({
  puid: z.number().int().positive().default(1000).describe('user that managed services run as; never 0'),
  pgid: z.number().int().positive().default(1000),
  tz: z.string().default(''),
  data_root: z.string().default('/data'),
  dumb: productSchema.prefault({}),
});

export interface SchemaIssue {
  readonly path: ConfigPath;
  readonly message: string;
}

export function describeIssue({ path: at, message }: SchemaIssue): string {
  return `${at.join('.') || 'the configuration'}: ${message}`;
}

export class ConfigSchema {
  readonly #sections = new Set<ConfigSection>();
  readonly #blocks = new Map<string, z.ZodType>();
  readonly #templates = new Map<string, BlockTemplate>();
  readonly #jsonSchemas = new WeakMap<z.ZodType, ConfigObject>();

  addSection(section: ConfigSection): () => void {
    const other = [...this.#sections].find(({ path }) => path.join('.') === section.path.join('.'));
    if (other !== undefined) throw new Error(`the configuration section ${section.path.join('.')} is already owned`);
    this.#sections.add(section);
    return () => this.#sections.delete(section);
  }

  addBlock(key: string, schema: z.ZodType): () => void {
    if (this.#blocks.has(key)) throw new Error(`the schema of ${key} blocks is already owned`);
    this.#blocks.set(key, schema);
    return () => this.#blocks.delete(key);
  }

  addTemplate(template: BlockTemplate): () => void {
    const place = template.path.join('.');
    if (this.#templates.has(place)) throw new Error(`the template of ${place} is already owned`);
    this.#templates.set(place, template);
    return () => this.#templates.delete(place);
  }

  /** Former names of root keys, by present name. */
  formerKeys(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#templates.values()].flatMap(({ path: [key = ''], formerKey }) =>
        formerKey === undefined ? [] : [[key, formerKey] as const],
      ),
    );
  }

  /** What stands where the file says nothing. */
  defaults(file: Readonly<ConfigObject>): ConfigObject {
    let defaults: unknown = rootSchema.parse({});
    for (const { path, schema } of this.#sections) {
      const parsed = schema.safeParse({});
      if (parsed.success) defaults = withEdit(defaults, { path, value: parsed.data });
    }
    for (const template of this.#templates.values()) {
      for (const [path, block] of blocksOf(template, file)) {
        defaults = withEdit(defaults, { path, value: merge(block, valueAt(defaults, path)) });
      }
    }
    return defaults as ConfigObject;
  }

  /** Issues of the host's own part and of the sections; named blocks are checked one by one. */
  issues(root: Readonly<ConfigObject>): SchemaIssue[] {
    const own = issuesOf(rootSchema, root, []);
    const sections = [...this.#sections].flatMap(({ path, schema }) => {
      const value = valueAt(root, path);
      return value === undefined ? [] : issuesOf(schema, value, path);
    });
    return [...own, ...sections];
  }

  /** Issues of the host's own part alone: with them the file cannot be used. */
  fatalIssues(root: Readonly<ConfigObject>): SchemaIssue[] {
    return issuesOf(rootSchema, root, []);
  }

  blockIssues({ configKey, path, block }: NamedBlock): SchemaIssue[] {
    return this.#schemasOf(configKey).flatMap(schema => issuesOf(schema, block, path));
  }

  /** Keys that the schemas of a block name. */
  blockKeys(block: NamedBlock): ReadonlySet<string> {
    return new Set(Object.keys(propertiesOf(this.blockJsonSchema(block) ?? {})));
  }

  rootKeys(): ReadonlySet<string> {
    return new Set(Object.keys(propertiesOf(this.jsonSchema([]))));
  }

  /** undefined when nobody contributed a schema for it. */
  blockJsonSchema({ configKey, path }: NamedBlock): ConfigObject | undefined {
    const own = valueAtSchema(this.#productJsonSchema(), path);
    const schemas = [
      ...this.#schemasOf(configKey).map(schema => this.#toJsonSchema(schema)),
      ...(own === undefined ? [] : [own]),
    ];
    if (schemas.length === 0) return undefined;
    const properties = Object.assign({}, ...schemas.map(propertiesOf)) as ConfigObject;
    return { ...Object.assign({}, ...schemas), properties, additionalProperties: true } as ConfigObject;
  }

  /** JSON Schema (draft 7) of the root, with a subtree for each of `blocks`. */
  jsonSchema(blocks: readonly NamedBlock[]): ConfigObject {
    let schema = this.#productJsonSchema();
    for (const block of blocks) {
      if (block.path[0] === 'dumb') continue;
      const value = this.blockJsonSchema(block);
      if (value === undefined) continue;
      const [key = '', , instance] = block.path;
      const place =
        instance === undefined
          ? ['properties', key]
          : ['properties', key, 'properties', 'instances', 'patternProperties', '^.+$'];
      schema = withEdit(schema, { path: place, value }) as ConfigObject;
    }
    return { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
  }

  #schemasOf(configKey: string): z.ZodType[] {
    return ['*', configKey].flatMap(key => this.#blocks.get(key) ?? []);
  }

  #productJsonSchema(): ConfigObject {
    let schema: unknown = this.#toJsonSchema(rootSchema);
    for (const section of this.#sections) {
      const path = section.path.flatMap(key => ['properties', key]);
      schema = withEdit(schema, { path, value: this.#toJsonSchema(section.schema) });
    }
    return schema as ConfigObject;
  }

  #toJsonSchema(schema: z.ZodType): ConfigObject {
    const known = this.#jsonSchemas.get(schema) ?? toJsonSchema(schema);
    this.#jsonSchemas.set(schema, known);
    return known;
  }
}

/**
 * The blocks that a template gives to a file, by path. Each instance that the file has gets the instance's own, and a
 * file without instances the template's. A block of one's own under the key of instances stays as it is.
 */
function blocksOf({ path, block }: BlockTemplate, file: Readonly<ConfigObject>): [ConfigPath, ConfigObject][] {
  const [key = '', instances, name = ''] = path;
  if (instances !== 'instances') return [[path, block(name)]];
  const own = file[key];
  if (isObject(own) && own.process_name !== undefined) return [];
  const existing = isObject(own) && isObject(own.instances) ? Object.keys(own.instances) : [];
  return (existing.length === 0 ? [name] : existing).map(instance => [[key, instances, instance], block(instance)]);
}

function issuesOf(schema: z.ZodType, value: unknown, path: ConfigPath): SchemaIssue[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map(issue => ({ path: [...path, ...issue.path.map(String)], message: issue.message }));
}

/** Without `$id` and `$schema`: it becomes a subtree, and a browser caches compiled schemas by `$id`. */
function toJsonSchema(schema: z.ZodType): ConfigObject {
  const { $schema: _schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  });
  return rest as ConfigObject;
}

function propertiesOf(schema: ConfigObject): ConfigObject {
  const properties = schema.properties;
  return isObject(properties) ? properties : {};
}

function valueAtSchema(schema: ConfigObject, path: ConfigPath): ConfigObject | undefined {
  const found = valueAt(
    schema,
    path.flatMap(key => ['properties', key]),
  );
  return isObject(found) ? found : undefined;
}
