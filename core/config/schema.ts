// The schema of the whole configuration: the host's own part, and the sections that plugins add at run time.
import type { z } from 'zod';
import type {
  BlockKeys,
  BlockMarks,
  BlockTemplate,
  ConfigObject,
  ConfigSection,
  NamedBlock,
} from '../contract/config.ts';
import { NameTaken } from '../kit/name-taken.ts';
import { findFinalBlocks } from '../kit/named-blocks.ts';
import type { Owner } from '../kit/owner.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { BlockDefaults } from './block-defaults.ts';
import { blockMarksOf } from './block-marks.ts';
import type { FormerPath } from './environment.ts';
import { hostSchema } from './host-schema.ts';
import { mergedObjectSchema, propertiesOf, subschemaAt, toJsonSchema, withSubschema } from './json-schema.ts';
import { type Giver, type KeptBlock, KeptBlocks } from './kept-blocks.ts';
import { type ConfigEdit, type ConfigPath, merge, placeOf, startsWith, withEdit, withEdits } from './layers.ts';
import { describe, Place, readWhole, SchemaTree, shapeOf } from './marks.ts';
import { given, issuesOf, jsonSchemaOf, type OwnedSchema, type SchemaIssue } from './owned-schema.ts';

export type Section = Pick<ConfigSection, 'path'> & OwnedSchema;

const HOST_DEFAULTS = hostSchema.parse({});

interface KnownSection extends ConfigSection {
  readonly owner: Owner;
  /** Undefined when the schema asks for a member that has no default. */
  readonly defaults: unknown;
}

interface KnownBlockKeys extends Omit<BlockKeys, 'defaults'> {
  readonly owner: Owner;
  readonly defaults: BlockDefaults;
}

interface KnownTemplate extends Omit<BlockTemplate, 'block'> {
  readonly owner: Owner;
  /** Undefined where its owner failed to give one. */
  block(instance: string): ConfigObject | undefined;
}

export class ConfigSchema {
  readonly kept = new KeptBlocks();
  readonly #givers = new Set<Giver & { readonly place: ConfigPath }>();
  readonly #sections = new Set<KnownSection>();
  readonly #blockKeys = new Set<KnownBlockKeys>();
  readonly #templates = new Map<string, KnownTemplate>();
  /** The JSON Schema of the host's own part and of the sections. */
  #ownJson: ConfigObject | undefined;
  #sectionKeys: ReadonlySet<string> | undefined;
  #root: { readonly places: string; readonly place: Place } | undefined;
  /**
   * Blocks as their templates give them. They are not checked, because the plugin of the template answers for them.
   */
  readonly #templateBlocks = new WeakSet<ConfigObject>();
  /** Blocks with their defaults, by the block without them; kept so that one that stays the same stays one object. */
  #completed = new WeakMap<ConfigObject, { readonly added: string; readonly block: ConfigObject }>();
  /** By config key; those without a contribution of their own share one entry. */
  readonly #blockMarks = new Map<string, BlockMarks>();
  /** Cached by the object of the block, because a change leaves most of the blocks the same objects. */
  #blockIssues = new WeakMap<ConfigObject, { readonly place: string; readonly issues: readonly SchemaIssue[] }>();

  /** Throws when another section describes the same member of the same object. */
  addSection(section: ConfigSection, owner: Owner): () => void {
    const others = [...this.#sections].filter(({ path }) => placeOf(path) === placeOf(section.path));
    const owners = new Map(others.flatMap(other => memberKeys(other.schema).map(key => [key, other.owner.plugin])));
    readWhole(section.schema, `the schema of ${section.path.join('.')} of ${owner.plugin}`);
    for (const key of owners.size === 0 ? [] : memberKeys(section.schema)) {
      const other = owners.get(key);
      if (other !== undefined)
        throw new NameTaken(`${[...section.path, key].join('.')} of ${owner.plugin}`, 'owned', other);
    }
    const { data: defaults } = section.schema.safeParse({});
    const withdraw = this.#added(this.#sections, { ...section, owner, defaults });
    const { path: place } = section;
    const takeBack = this.#gives(owner, place, path => valueAt(withEdit({}, { path: place, value: defaults }), path));
    return () => {
      withdraw();
      takeBack();
    };
  }

  addBlockKeys(keys: BlockKeys, owner: Owner): () => void {
    readWhole(keys.schema, `the schema of the keys of blocks of ${owner.plugin}`);
    return this.#added(this.#blockKeys, { ...keys, owner, defaults: new BlockDefaults(keys, owner) });
  }

  addTemplate(template: BlockTemplate, owner: Owner): () => void {
    const place = placeOf(template.path);
    const other = this.#templates.get(place);
    if (other !== undefined) {
      const what = `the template of ${template.path.join('.')} of ${owner.plugin}`;
      throw new NameTaken(what, 'owned', other.owner.plugin);
    }
    const made = new Map<string, ConfigObject | undefined>();
    const make = (instance: string) =>
      given(owner, `the template of ${template.path.join('.')}`, () => template.block(instance));
    this.#templates.set(place, { ...template, owner, block: instance => this.#templateBlock(make, made, instance) });
    // Only the blocks that it has made so far count, because its code may be gone.
    const [key = '', second = ''] = template.path;
    const takeBack = this.#gives(owner, [key], path => {
      const place = second === 'instances' ? [key, second, path[2] ?? ''] : template.path;
      return valueAt(withEdit({}, { path: place, value: made.get(place[2] ?? '') }), path);
    });
    return () => {
      this.#templates.delete(place);
      takeBack();
    };
  }

  /** The present and the former paths of blocks, and of keys that have instances. */
  formerPaths(): FormerPath[] {
    return [...this.#templates.values()].flatMap(({ path, formerPath }) => {
      const present = path[1] === 'instances' ? path.slice(0, 1) : path;
      return formerPath === undefined ? [] : [{ present, former: formerPath }];
    });
  }

  /** Default values for what the file does not contain. */
  defaults(file: Readonly<ConfigObject>): ConfigObject {
    const defaults = this.#ownDefaults(file);
    if (this.kept.isEmpty) return defaults;
    const kept = this.kept.lackedBy(defaults, file);
    const edits = kept.map(({ path, value }) => ({ path, value: merge(value, valueAt(defaults, path)) }));
    return withEdits(defaults, edits) as ConfigObject;
  }

  /** The blocks that exist only because of plugins that are gone. */
  keptBlocks(file: Readonly<ConfigObject>): KeptBlock[] {
    return this.kept.isEmpty ? [] : this.kept.lackedBy(this.#ownDefaults(file), file);
  }

  /** The plugin that gives the block at the path its name, also one that is gone. */
  giverOf(processName: string, path: ConfigPath): string | undefined {
    for (const { plugin, place, giftTo } of this.#givers) {
      const isNear = startsWith(path, place) || startsWith(place, path);
      if (isNear && valueAt(giftTo(path), ['process_name']) === processName) return plugin;
    }
    return this.kept.giverOf(processName);
  }

  #gives({ plugin }: Owner, place: ConfigPath, giftTo: Giver['giftTo']): () => void {
    const giver = { plugin, place, giftTo };
    this.#givers.add(giver);
    return () => {
      this.#givers.delete(giver);
      this.kept.keep(giver);
    };
  }

  #ownDefaults(file: Readonly<ConfigObject>): ConfigObject {
    let defaults: unknown = HOST_DEFAULTS;
    for (const { path, defaults: own } of this.#sections) {
      if (own !== undefined) defaults = withEdit(defaults, { path, value: merge(own, valueAt(defaults, path)) });
    }
    const edits = [...this.#templates.values()].flatMap(template =>
      pathsOf(template, file).flatMap(path => {
        const block = template.block(path[2] ?? '');
        return block === undefined ? [] : [{ path, value: merge(block, valueAt(defaults, path)) }];
      }),
    );
    return withEdits(defaults, edits) as ConfigObject;
  }

  /** The tree with the defaults of contributions in the blocks that lack them. */
  completed(root: Readonly<ConfigObject>): ConfigObject {
    const blocks = findFinalBlocks(root);
    const added = new Map<NamedBlock, ConfigObject>();
    for (const { defaults } of this.#blockKeys)
      for (const [named, values] of defaults.lackedBy(blocks)) added.set(named, { ...added.get(named), ...values });
    const edits = [...added].map(([named, values]) => ({ path: named.path, value: this.#withDefaults(named, values) }));
    return withEdits(root, edits) as ConfigObject;
  }

  #withDefaults({ block }: NamedBlock, values: ConfigObject): ConfigObject {
    const added = JSON.stringify(values);
    const known = this.#completed.get(block);
    if (known?.added === added) return known.block;
    const completed = merge(values, block) as ConfigObject;
    this.#completed.set(block, { added, block: completed });
    return completed;
  }

  /** What is wrong with the defaults of blocks, one sentence for each plugin. */
  faults(): string[] {
    return [...this.#blockKeys].flatMap(({ defaults }) => defaults.fault ?? []);
  }

  /** The host's own part, and the sections that plugins added. */
  sections(): Section[] {
    return [{ path: [], schema: hostSchema, owner: undefined }, ...this.#sections];
  }

  /** Paths of the blocks that templates give to a configuration. */
  templatePaths(root: Readonly<ConfigObject>): ConfigPath[] {
    return [...this.#templates.values()].flatMap(template => pathsOf(template, root));
  }

  blockIssues({ configKey, path, block }: NamedBlock): readonly SchemaIssue[] {
    if (this.#templateBlocks.has(block)) return [];
    const place = placeOf(path);
    const known = this.#blockIssues.get(block);
    // A YAML alias may put one object at several places.
    if (known?.place === place) return known.issues;
    const issues = this.#schemasOf(configKey).flatMap(schema => issuesOf(schema, block, path));
    this.#blockIssues.set(block, { place, issues });
    return issues;
  }

  /**
   * The root place, from which the marks of every other place are found; cached until the schemas or the paths of
   * blocks change.
   */
  rootPlace(blocks: readonly NamedBlock[]): Place {
    const places = blocks.map(({ path }) => placeOf(path)).join('\n');
    if (this.#root?.places !== places) this.#root = { places, place: this.#createRoot(blocks) };
    return this.#root.place;
  }

  #createRoot(blocks: readonly NamedBlock[]): Place {
    const tree = new SchemaTree();
    tree.add([], [hostSchema]);
    for (const { path, schema } of this.#sections) tree.add(path, [schema]);
    for (const { path, configKey } of blocks)
      tree.add(
        path,
        this.#schemasOf(configKey).map(({ schema }) => schema),
      );
    return Place.root(tree);
  }

  /** The keys of a block that its schemas describe. */
  blockKeys(block: NamedBlock): ReadonlySet<string> {
    return new Set(Object.keys(propertiesOf(this.blockJsonSchema(block) ?? {})));
  }

  blockMarks(configKey: string): BlockMarks {
    const hasOwn = [...this.#blockKeys].some(({ appliesTo }) => appliesTo?.includes(configKey) === true);
    const kind = hasOwn ? configKey : '';
    const known = this.#blockMarks.get(kind);
    if (known !== undefined) return known;
    const marks = blockMarksOf(this.#keysOf(kind).map(({ schema }) => schema));
    this.#blockMarks.set(kind, marks);
    return marks;
  }

  /** Whether a schema describes the members of the object at the path. */
  isSection(path: ConfigPath): boolean {
    return Object.keys(propertiesOf(subschemaAt(this.#ownJsonSchema(), path) ?? {})).length > 0;
  }

  /** The members of the root for which `isSection` holds, found without a JSON Schema of everything. */
  sectionKeys(): ReadonlySet<string> {
    this.#sectionKeys ??= this.#findSectionKeys();
    return this.#sectionKeys;
  }

  #findSectionKeys(): ReadonlySet<string> {
    const keys = new Set(Object.keys(HOST_DEFAULTS).filter(key => isObject(valueAt(HOST_DEFAULTS, [key]))));
    for (const section of this.#sections) {
      const [key, ...below] = section.path;
      if (key === undefined) for (const member of objectKeys(section.schema)) keys.add(member);
      else if (below.length > 0 || memberKeys(section.schema).length > 0) keys.add(key);
    }
    return keys;
  }

  /** The members of the root that a schema describes, found without a JSON Schema of everything. */
  rootKeys(): ReadonlySet<string> {
    const ofSections = [...this.#sections].flatMap(section => {
      const [key] = section.path;
      return key === undefined ? memberKeys(section.schema) : [key];
    });
    return new Set([...Object.keys(hostSchema.shape), ...ofSections]);
  }

  /** The JSON Schema of a block; undefined when no plugin contributed one. */
  blockJsonSchema(block: NamedBlock): ConfigObject | undefined {
    const schemas = this.#jsonSchemasOf(block, this.#ownJsonSchema());
    return schemas.length === 0 ? undefined : mergedObjectSchema(schemas);
  }

  #jsonSchemasOf({ configKey, path }: NamedBlock, root: ConfigObject): ConfigObject[] {
    const own = subschemaAt(root, path);
    return [...this.#schemasOf(configKey).map(jsonSchemaOf), ...(own === undefined ? [] : [own])];
  }

  /**
   * JSON Schema (draft 7) of the root, with a subtree for each of `blocks`. Subtrees of blocks that have the same
   * schemas are the same object.
   */
  jsonSchema(blocks: readonly NamedBlock[]): ConfigObject {
    const root = [...this.#sections].reduce(withRunTimeSchema, this.#ownJsonSchema());
    const edits: ConfigEdit[] = [];
    const made: { readonly of: readonly ConfigObject[]; readonly value: ConfigObject }[] = [];
    for (const block of blocks) {
      if (block.path[0] === 'dumb') continue;
      const schemas = this.#jsonSchemasOf(block, root);
      if (schemas.length === 0) continue;
      const known = made.find(({ of }) => of.length === schemas.length && of.every((one, at) => one === schemas[at]));
      const value = known?.value ?? mergedObjectSchema(schemas);
      if (known === undefined) made.push({ of: schemas, value });
      const [key = '', , instance] = block.path;
      const place =
        instance === undefined
          ? ['properties', key]
          : ['properties', key, 'properties', 'instances', 'patternProperties', '^.+$'];
      edits.push({ path: place, value });
    }
    const schema = withEdits(root, edits) as ConfigObject;
    return { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
  }

  /** The same object for the same instance, so that a block that exists only as a default stays the same object. */
  #templateBlock(
    make: (instance: string) => ConfigObject | undefined,
    made: Map<string, ConfigObject | undefined>,
    instance: string,
  ): ConfigObject | undefined {
    if (made.has(instance)) return made.get(instance);
    const block = make(instance);
    made.set(instance, block);
    if (block !== undefined) this.#templateBlocks.add(block);
    return block;
  }

  #added<Member>(members: Set<Member>, member: Member): () => void {
    members.add(member);
    this.#forget();
    return () => {
      members.delete(member);
      this.#forget();
    };
  }

  /** Discards what was derived from the schemas. */
  #forget(): void {
    this.#root = undefined;
    this.#sectionKeys = undefined;
    this.#ownJson = undefined;
    this.#blockMarks.clear();
    this.#blockIssues = new WeakMap();
    this.#completed = new WeakMap();
  }

  /** The schemas that describe values of keys, and not marks alone. */
  #schemasOf(configKey: string): OwnedSchema[] {
    return this.#keysOf(configKey).filter(({ marksOnly }) => marksOnly !== true);
  }

  /** The schemas for all blocks come first, so that those for one kind of block override them in editors. */
  #keysOf(configKey: string): KnownBlockKeys[] {
    const all = [...this.#blockKeys];
    return [
      ...all.filter(({ appliesTo }) => appliesTo === undefined),
      ...all.filter(({ appliesTo }) => appliesTo?.includes(configKey)),
    ];
  }

  #ownJsonSchema(): ConfigObject {
    this.#ownJson ??= this.#createOwnJson();
    return this.#ownJson;
  }

  #createOwnJson(): ConfigObject {
    let schema = toJsonSchema(hostSchema);
    for (const section of this.#sections) {
      const present = subschemaAt(schema, section.path);
      const value = jsonSchemaOf(section);
      schema = withSubschema(
        schema,
        section.path,
        present === undefined ? value : mergedObjectSchema([present, value]),
      );
    }
    return schema;
  }
}

function withRunTimeSchema(root: ConfigObject, section: KnownSection): ConfigObject {
  const { path, owner } = section;
  const made = section.jsonSchema === undefined ? undefined : subschemaAt(root, path);
  if (made === undefined) return root;
  const atRunTime = given(owner, `the JSON Schema of ${path.join('.')}`, () => section.jsonSchema?.(made));
  return withSubschema(root, path, atRunTime ?? made);
}

/**
 * Paths of the blocks that a template adds to a file: one for each instance that the file has, otherwise the template's
 * own. A single block under the key of instances is left alone.
 */
function pathsOf({ path }: Pick<BlockTemplate, 'path'>, file: Readonly<ConfigObject>): ConfigPath[] {
  const [key = '', instances, name = ''] = path;
  if (instances !== 'instances') return [path];
  const own = file[key];
  if (isObject(own) && own.process_name !== undefined) return [];
  const existing = isObject(own) && isObject(own.instances) ? Object.keys(own.instances) : [];
  return (existing.length === 0 ? [name] : existing).map(instance => [key, instances, instance]);
}

/** The names of the members that a schema describes, read from it, because making its JSON Schema takes far longer. */
function memberKeys(schema: z.core.$ZodType): string[] {
  return describe(schema).layers.flatMap(layer => Object.keys(shapeOf(layer)));
}

/** The names of the members that are objects themselves. */
function objectKeys(schema: z.core.$ZodType): string[] {
  const members = describe(schema).layers.flatMap(layer => Object.entries(shapeOf(layer)));
  return members.flatMap(([key, member]) => (memberKeys(member).length > 0 ? [key] : []));
}
