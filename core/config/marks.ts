// Finds the marks that schemas give to each place of the configuration, walking along a value.
import { z } from 'zod';
import { misspellingIn } from '../kit/checked-argument.ts';
import { isSecretKey } from '../kit/secret-key.ts';
import type { ConfigPath } from './layers.ts';

type Schema = z.core.$ZodType;
/** The marks that `GlobalMeta` of the contract describes. */
export const MARKS = [
  'secret',
  'writeOnly',
  'live',
  'identity',
  'kept',
  'fallback',
  'needsLogin',
  'masksUnknown',
  'decidesProgram',
  'relation',
] as const;
/** What else schemas are given; `example` is a word of API descriptions, and so no misspelt `examples`. */
const META_KEYS = new Set<string>([...MARKS, 'title', 'description', 'examples', 'example', 'deprecated']);
type Mark = (typeof MARKS)[number];
type Marks = Pick<z.core.GlobalMeta, Mark>;

/** Holds schemas of objects by path, in addition to what the schemas of their parents describe. */
export class SchemaTree {
  readonly schemas: Schema[] = [];
  readonly members = new Map<string, SchemaTree>();

  add(path: ConfigPath, schemas: readonly Schema[]): void {
    const [key, ...rest] = path;
    if (key === undefined) {
      this.schemas.push(...schemas);
      return;
    }
    const member = this.members.get(key) ?? new SchemaTree();
    this.members.set(key, member);
    member.add(rest, schemas);
  }
}

/** One place of the configuration, as all schemas together describe it. */
export class Place {
  /** True by its own mark, or inside something secret. */
  readonly secretBySchema: boolean;
  /** True by a mark, or by its name where no schema decides otherwise. */
  readonly secret: boolean;
  readonly writeOnly: boolean;
  /** Whether members that no schema describes are secrets which every answer masks. */
  readonly masksUnknown: boolean;
  /** True for a member that `masksUnknown` of its parent concerns, and inside it. */
  readonly isUnknown: boolean;
  readonly isIdentity: boolean;
  readonly isKept: boolean;
  /** True by its own mark, or inside something that has it. */
  readonly needsLogin: boolean;
  /** The nearest mark on the way from the root; undefined when no schema has one. */
  readonly live: boolean | undefined;
  /** Same as `live`: the nearest mark. */
  readonly fallback: boolean | undefined;
  readonly #key: string;
  readonly #tree: SchemaTree | undefined;
  readonly #schemas: readonly Schema[];
  #members: Map<string, Place> | undefined;
  #described: ReadonlySet<string> | undefined;
  /** Empty where any key may stand. */
  #named: ReadonlySet<string> | undefined;
  #item: Place | undefined;
  readonly #isUndescribed: boolean;
  #openMember: Place | undefined;
  #secretMember: Place | undefined;

  private constructor(key: string, schemas: readonly Schema[], tree: SchemaTree | undefined, parent?: Place) {
    this.#key = key;
    this.#tree = tree;
    const described = schemas.map(describe);
    this.#schemas = described.flatMap(({ layers }) => layers);
    this.#isUndescribed = schemas.length === 0 && tree === undefined;
    const marks = described.flatMap(({ marks }) => marks);
    const isMarked = (mark: Mark, value: boolean): boolean => marks.some(meta => meta[mark] === value);
    const isOpen = isMarked('secret', false);
    this.writeOnly = isMarked('writeOnly', true);
    this.masksUnknown = isMarked('masksUnknown', true);
    this.isUnknown = this.#isUndescribed && (parent?.masksUnknown === true || parent?.isUnknown === true);
    this.secretBySchema = isMarked('secret', true) || this.writeOnly || (parent?.secretBySchema === true && !isOpen);
    this.secret = this.secretBySchema || (!isOpen && (parent?.secret === true || isSecretKey(key)));
    this.isIdentity = isMarked('identity', true);
    this.isKept = isMarked('kept', true);
    this.needsLogin = isMarked('needsLogin', true) || parent?.needsLogin === true;
    const nearest = (mark: Mark): boolean | undefined =>
      isMarked(mark, false) ? false : isMarked(mark, true) ? true : undefined;
    this.live = nearest('live') ?? parent?.live;
    this.fallback = nearest('fallback') ?? parent?.fallback;
  }

  static root(tree: SchemaTree): Place {
    return new Place('', tree.schemas, tree);
  }

  member(key: string): Place {
    const known = this.#members?.get(key);
    if (known !== undefined) return known;
    const tree = this.#tree?.members.get(key);
    const schemas = this.#schemas.flatMap(schema => memberOf(schema, key)).filter(isTelling);
    if (tree === undefined && schemas.length === 0) return this.#undescribed(key);
    const member = new Place(key, tree === undefined ? schemas : [...schemas, ...tree.schemas], tree, this);
    // Only described keys are cached: other keys come from user input, and their number has no limit.
    if (tree !== undefined || this.#describedKeys().has(key)) {
      this.#members ??= new Map();
      this.#members.set(key, member);
    }
    return member;
  }

  at(path: ConfigPath): Place {
    return path.reduce<Place>((place, key) => place.member(key), this);
  }

  /** The place of a member of the list at this place. */
  item(): Place {
    if (this.#isUndescribed) return this;
    this.#item ??= new Place(this.#key, this.#schemas.flatMap(itemsOf).filter(isTelling), undefined, this);
    return this.#item;
  }

  /** Names of the write-only members that the schemas describe. */
  writeOnlyKeys(): readonly string[] {
    return this.#schemas.flatMap(schema => describe(schema).writeOnlyKeys());
  }

  /** Same as `member(key).writeOnly`, without creating the place. */
  hasWriteOnly(key: string): boolean {
    return this.#schemas.some(schema => memberOf(schema, key).some(isWriteOnly));
  }

  /** The keys that belong here, or null where any may stand or no schema names one. */
  namedKeys(): ReadonlySet<string> | null {
    this.#named ??= this.#findNamedKeys();
    return this.#named.size === 0 ? null : this.#named;
  }

  #findNamedKeys(): ReadonlySet<string> {
    const described = this.#describedKeys();
    if (described.size === 0 || this.#schemas.some(takesAnyKey)) return new Set();
    return this.#tree === undefined ? described : new Set([...described, ...this.#tree.members.keys()]);
  }

  /** The key of the member that identifies an object of a list. */
  identityKey(): string | undefined {
    return [...this.#describedKeys()].find(key => this.member(key).isIdentity);
  }

  /** The blank value that answers show for a write-only value at this place. */
  blank(): unknown {
    const types = new Set<string>(this.#schemas.map(schema => definitionOf(schema).type));
    if (types.has('object') || types.has('record')) return {};
    return types.has('array') ? [] : '';
  }

  /**
   * A member of which no schema says anything. It inherits its marks, and its name decides whether it is secret, so two
   * places stand for all such members.
   */
  #undescribed(key: string): Place {
    const isSecret = this.secret || this.masksUnknown || isSecretKey(key);
    if (this.#isUndescribed && isSecret === this.secret) return this;
    if (isSecret) {
      this.#secretMember ??= new Place('secret', [], undefined, this);
      return this.#secretMember;
    }
    this.#openMember ??= new Place('', [], undefined, this);
    return this.#openMember;
  }

  #describedKeys(): ReadonlySet<string> {
    this.#described ??= new Set(this.#schemas.flatMap(schema => Object.keys(shapeOf(schema))));
    return this.#described;
  }
}

/** A schema with everything that it wraps at the same place, and the marks of all of these. */
interface Described {
  readonly layers: readonly Schema[];
  readonly marks: readonly Marks[];
  /** Computed on the first call and cached. */
  writeOnlyKeys(): readonly string[];
}

const known = new WeakMap<Schema, Described>();

export function describe(schema: Schema): Described {
  const earlier = known.get(schema);
  if (earlier !== undefined) return earlier;
  const reached = new Set<Schema>([schema]);
  for (const layer of reached) for (const inner of wrappedBy(layer)) reached.add(inner);
  const layers = [...reached];
  const marks = layers.flatMap(layer => {
    const found: Marks = z.globalRegistry.get(layer) ?? {};
    return MARKS.some(mark => found[mark] !== undefined) ? [found] : [];
  });
  let writeOnlyKeys: readonly string[] | undefined;
  const described = {
    layers,
    marks,
    writeOnlyKeys() {
      writeOnlyKeys ??= Object.entries(shapeOf(schema)).flatMap(([key, member]) => (isWriteOnly(member) ? [key] : []));
      return writeOnlyKeys;
    },
  };
  known.set(schema, described);
  return described;
}

/**
 * Reads the whole schema, so that code in it that throws, such as the getter of a member, throws now and not later.
 * Throws an Error for a misspelt mark too, because a secret that it was to protect would be shown. `what` names the
 * schema.
 */
export function readWhole(schema: z.ZodType, what: string): void {
  const reached = new Map<Schema, () => string>([[schema, () => what]]);
  for (const [read, place] of reached) {
    refuseMisspeltMarks(read, place);
    for (const [key, member] of Object.entries(shapeOf(read)))
      if (!reached.has(member)) reached.set(member, () => `'${key}' of ${place()}`);
    for (const inner of namelessIn(read)) if (!reached.has(inner)) reached.set(inner, place);
  }
}

function refuseMisspeltMarks(schema: Schema, place: () => string): void {
  if (!z.globalRegistry.has(schema)) return;
  const misspelling = misspellingIn(Object.keys(z.globalRegistry.get(schema) ?? {}), META_KEYS, place);
  if (misspelling !== undefined) throw new Error(misspelling);
}

/** The schemas that the schema is directly made of. */
export function innerSchemas(schema: Schema): readonly Schema[] {
  return [...Object.values(shapeOf(schema)), ...namelessIn(schema)];
}

/** Those that are no members with a name of their own. */
function namelessIn(schema: Schema): readonly Schema[] {
  const definition = definitionOf(schema);
  if (definition.type === 'record') return [definition.valueType];
  const items = itemsOf(schema);
  return items.length > 0 ? items : wrappedBy(schema);
}

/** False for schemas that take anything and bear no mark. */
function isTelling(schema: Schema): boolean {
  const { type } = definitionOf(schema);
  return (type !== 'unknown' && type !== 'any') || describe(schema).marks.length > 0;
}

function isWriteOnly(schema: Schema): boolean {
  return describe(schema).marks.some(({ writeOnly }) => writeOnly === true);
}

function definitionOf(schema: Schema): z.core.$ZodTypes['_zod']['def'] {
  return (schema as z.core.$ZodTypes)._zod.def;
}

function wrappedBy(schema: Schema): readonly Schema[] {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return [definition.innerType];
    case 'pipe':
      return [definition.in, definition.out];
    case 'union':
      return definition.options;
    case 'intersection':
      return [definition.left, definition.right];
    case 'lazy':
      return [definition.getter()];
    default:
      return [];
  }
}

/** True for records. Loose objects keep unknown members too, but that does not make every key a right one. */
function takesAnyKey(schema: Schema): boolean {
  return definitionOf(schema).type === 'record';
}

export function shapeOf(schema: Schema): Readonly<Record<string, Schema>> {
  const definition = definitionOf(schema);
  return definition.type === 'object' ? definition.shape : {};
}

export function memberOf(schema: Schema, key: string): readonly Schema[] {
  const definition = definitionOf(schema);
  if (definition.type === 'record') return [definition.valueType];
  if (definition.type !== 'object') return [];
  const { shape, catchall } = definition;
  const member = Object.hasOwn(shape, key) ? shape[key] : catchall;
  return member === undefined ? [] : [member];
}

export function itemsOf(schema: Schema): readonly Schema[] {
  const definition = definitionOf(schema);
  if (definition.type === 'array') return [definition.element];
  if (definition.type !== 'tuple') return [];
  return definition.rest === null ? definition.items : [...definition.items, definition.rest];
}
