// Makes a configuration fit its schema, so that a value that does not fit affects nothing but itself: a default stands
// in for it where that is safe, and the service whose block holds it is disabled where it is not.
import type { ConfigObject, NamedBlock } from '../contract/config.ts';
import { findFinalBlocks } from '../kit/named-blocks.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { type ConfigEdit, type ConfigPath, placeOf, startsWith, withEdit, withEdits } from './layers.ts';
import type { Place } from './marks.ts';
import { issuesOf, type SchemaIssue } from './owned-schema.ts';
import type { ConfigSchema, Section } from './schema.ts';

/** A value of the configuration that does not fit. */
export interface Misfit {
  readonly path: ConfigPath;
  /** What the schema says about the value, without the value itself. */
  readonly message: string;
  readonly value: unknown;
  /**
   * What is used instead: the boolean that a word means, the default, or the other items of the list; null when the
   * value stays.
   */
  readonly standIn: 'boolean' | 'default' | 'items' | null;
  /** Path of the block that is disabled because of it. */
  readonly disables: ConfigPath | null;
  /** Whether no service may be started because of it. */
  readonly isFatal: boolean;
}

export interface Fitted {
  readonly root: ConfigObject;
  readonly misfits: readonly Misfit[];
}

/** Words that YAML 1.2 reads as texts, and that users write for booleans. */
const YAML_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['on', true],
  ['no', false],
  ['off', false],
]);

/** `defaults` are those that the schema has for this configuration. */
export function fit(root: ConfigObject, defaults: ConfigObject, schema: ConfigSchema): Fitted {
  const fitting = new Fitting(root, defaults, schema);
  for (const section of schema.sections()) fitting.section(section);
  fitting.shape();
  fitting.blocks();
  return fitting;
}

/** How a value is noted on which its schema fails: it stays as it is, because the schema may be what is wrong. */
const UNCHECKED = { value: undefined, standIn: null } as const;

/** A text that stands for the place of a misfit and what is wrong there. */
export function keyOf({ path, message }: Misfit): string {
  return `${placeOf(path)} ${message}`;
}

class Fitting implements Fitted {
  root: ConfigObject;
  readonly misfits: Misfit[] = [];
  /** The places of the misfits. */
  readonly #noted = new Set<string>();
  readonly #defaults: ConfigObject;
  readonly #schema: ConfigSchema;
  /** The root place; undefined after a change of what may be a block. */
  #place: Place | undefined;
  #areSectionsDone = false;
  /** The root as it was made by an edit of a block, and which only this object knows. */
  #copy: ConfigObject | undefined;

  constructor(root: ConfigObject, defaults: ConfigObject, schema: ConfigSchema) {
    this.root = root;
    this.#defaults = defaults;
    this.#schema = schema;
  }

  /** Puts stand-ins into one section; where one does not help, the object around it is replaced. */
  section(section: Section): void {
    const { path } = section;
    const tried = new Set<string>();
    for (;;) {
      const value = valueAt(this.root, path);
      const issues = value === undefined ? [] : issuesOf(section, value, path);
      if (issues.length === 0) return;
      if (this.#readsWords(issues)) continue;
      const edits = this.#sectionEdits(issues, path, tried);
      if (edits.length === 0) return;
      this.#edit(edits);
      this.#place = undefined;
    }
  }

  /** Gives every place of a block an object with a name, so that no process vanishes from the list. */
  shape(): void {
    const paths = this.#schema.templatePaths(this.root);
    for (const path of paths) for (const depth of path.keys()) this.#object(path.slice(0, depth + 1), path);
    for (const path of paths) this.#name(path);
    const sections = this.#schema.sectionKeys();
    for (const [key, value] of Object.entries(this.root)) {
      if (!isObject(value) || sections.has(key)) continue;
      this.#name([key]);
      if (isObject(value.instances))
        for (const name of Object.keys(value.instances)) this.#name([key, 'instances', name]);
    }
    this.#place = undefined;
  }

  blocks(): void {
    this.#areSectionsDone = true;
    for (const block of findFinalBlocks(this.root)) this.#block(block);
  }

  #block(named: NamedBlock): void {
    let issues = this.#schema.blockIssues(named);
    if (this.#readsWords(issues)) issues = this.#schema.blockIssues(this.#again(named));
    if (issues.length === 0) return;
    const isDisabled = this.#blockStandIns(issues, named);
    if (isDisabled || named.isHost) return;
    const mended = this.#again(named);
    for (const issue of this.#schema.blockIssues(mended)) {
      const value = this.#valueOf(issue.path);
      this.#note(issue, issue.isFault ? UNCHECKED : { value, standIn: null, disables: named.path });
    }
  }

  /** Puts defaults where they are safe in a block; whether there is a value for which none is, so the block is off. */
  #blockStandIns(issues: readonly SchemaIssue[], named: NamedBlock): boolean {
    const edits: ConfigEdit[] = [];
    const lists = new UnfitItems();
    let isDisabled = false;
    for (const issue of issues) {
      if (issue.isFault) {
        this.#note(issue, UNCHECKED);
        continue;
      }
      const { path, index } = this.#spot(issue.path);
      const value = this.#valueOf(issue.path);
      const hasStandIn = value === null || named.isHost || this.#fallbackAt(path) === true;
      if (index !== undefined && this.#isLooseList(path)) {
        lists.add(path, index);
        this.#note(issue, { value: valueAt(this.root, path), standIn: 'items' });
        continue;
      }
      if (hasStandIn) edits.push({ path, value: valueAt(this.#defaults, path) });
      else isDisabled = true;
      this.#note(issue, { value, standIn: hasStandIn ? 'default' : null, disables: hasStandIn ? null : named.path });
    }
    this.#edit([...edits, ...lists.editsOf(this.root)]);
    this.#replaceUnfitLists(lists, named);
    return isDisabled;
  }

  /** Whether a list of a block may lose items: when the mark is its own, as within a probe each item may count. */
  #isLooseList(path: ConfigPath): boolean {
    return this.#fallbackAt(path) === true && this.#fallbackAt(path.slice(0, -1)) !== true;
  }

  /** Puts the default in for a list that does not fit without the items either, or of which nothing is left. */
  #replaceUnfitLists(lists: UnfitItems, named: NamedBlock): void {
    const issues = lists.paths.length === 0 ? [] : this.#schema.blockIssues(this.#again(named));
    for (const path of lists.paths) {
      const left = valueAt(this.root, path) as readonly unknown[];
      if (left.length > 0 && !issues.some(issue => startsWith(issue.path, path))) continue;
      this.#restateItems(path, 'default');
      this.#edit([{ path, value: valueAt(this.#defaults, path) }]);
    }
  }

  #again(named: NamedBlock): NamedBlock {
    return { ...named, block: valueAt(this.root, named.path) as ConfigObject };
  }

  /** Replaces words for booleans by the booleans; whether there were any. */
  #readsWords(issues: readonly SchemaIssue[]): boolean {
    let hasWords = false;
    for (const issue of issues) {
      const { path, index } = this.#spot(issue.path);
      const list = index === undefined ? undefined : (valueAt(this.root, path) as readonly unknown[]);
      const within = list === undefined ? [] : issue.path.slice(path.length + 1);
      const around = list === undefined ? valueAt(this.root, path) : list[Number(index)];
      const value = valueAt(around, within);
      const word = issue.expectsBoolean ? booleanOf(value) : undefined;
      if (word === undefined) continue;
      hasWords = true;
      const mended = withEdit(around, { path: within, value: word });
      this.#edit([{ path, value: list?.with(Number(index), mended) ?? mended }]);
      this.#note(issue, { value, standIn: 'boolean' });
    }
    return hasWords;
  }

  /** The stand-ins to try next: lists without the items that do not fit, and defaults for everything else. */
  #sectionEdits(issues: readonly SchemaIssue[], section: ConfigPath, tried: Set<string>): ConfigEdit[] {
    const edits: ConfigEdit[] = [];
    const lists = new UnfitItems();
    const mended = new Set<string>();
    for (const issue of issues) {
      if (issue.isFault) {
        this.#note(issue, UNCHECKED);
        continue;
      }
      const { path, index } = this.#spot(issue.path);
      const place = placeOf(path);
      // A value may fail several checks, but its stand-in has not been checked yet.
      if (mended.has(place)) continue;
      if (index !== undefined && !tried.has(place) && !tried.has(itemsOf(place))) {
        lists.add(path, index);
        this.#note(issue, { value: valueAt(this.root, path), standIn: 'items' });
        continue;
      }
      mended.add(place);
      edits.push(...this.#standInAt(path, issue, section, tried));
    }
    for (const path of lists.paths) tried.add(itemsOf(placeOf(path)));
    return [...edits, ...lists.editsOf(this.root)];
  }

  /** The edit that puts a default in; none when the section has none. Notes the misfit. */
  #standInAt(path: ConfigPath, issue: SchemaIssue, section: ConfigPath, tried: Set<string>): ConfigEdit[] {
    const edit = this.#defaultFor(path, section, tried);
    const standIn = edit === undefined ? null : 'default';
    if (tried.has(itemsOf(placeOf(path)))) this.#restateItems(path, standIn);
    else this.#note(issue, { value: valueAt(this.root, path), standIn, isFatal: this.#fallbackAt(path) === false });
    return edit === undefined ? [] : [edit];
  }

  /**
   * The default at the path or the nearest one above it that was not tried yet; undefined when the section has none.
   */
  #defaultFor(path: ConfigPath, section: ConfigPath, tried: Set<string>): ConfigEdit | undefined {
    let at = path;
    while (tried.has(placeOf(at)) && at.length > section.length) at = at.slice(0, -1);
    const value = valueAt(this.#defaults, at);
    if (tried.has(placeOf(at)) || (value === undefined && at.length <= section.length)) return undefined;
    tried.add(placeOf(at));
    return { path: at, value };
  }

  #object(path: ConfigPath, block: ConfigPath): void {
    const value = valueAt(this.root, path);
    if (isObject(value) || value === undefined) return;
    this.#edit([{ path, value: valueAt(this.#defaults, path) }]);
    const disables = value === null ? null : block;
    this.#note({ path, message: 'an object was expected' }, { value, standIn: 'default', disables });
  }

  #name(block: ConfigPath): void {
    const path = [...block, 'process_name'];
    const value = valueAt(this.root, path);
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return;
    const known = valueAt(this.#defaults, path);
    this.#edit([{ path, value: known ?? block.at(-1) }]);
    const disables = known !== undefined && value === null ? null : block;
    this.#note({ path, message: 'a name was expected' }, { value, standIn: 'default', disables });
  }

  /** Where an issue is corrected: at its own path, or in the list that holds it. */
  #spot(path: ConfigPath): { readonly path: ConfigPath; readonly index?: number } {
    for (const depth of path.keys()) {
      const above = path.slice(0, depth);
      if (Array.isArray(valueAt(this.root, above))) return { path: above, index: Number(path[depth]) };
    }
    return { path };
  }

  /** The value at the path, which may lead into items of lists. */
  #valueOf(path: ConfigPath): unknown {
    return path.reduce<unknown>(
      (value, key) => (Array.isArray(value) ? value[Number(key)] : valueAt(value, [key])),
      this.root,
    );
  }

  /** Keeps the first of several misfits at one place: the others follow from its stand-in. */
  #note(
    { path, message }: Pick<SchemaIssue, 'path' | 'message'>,
    what: Pick<Misfit, 'value' | 'standIn'> & Partial<Misfit>,
  ): void {
    const place = placeOf(path);
    if (this.#noted.has(place)) return;
    this.#noted.add(place);
    this.misfits.push({ path, message, disables: null, isFatal: false, ...what });
  }

  /**
   * Restates the misfits of a list's items: the list does not fit without them either, so the whole list is replaced.
   */
  #restateItems(list: ConfigPath, standIn: Misfit['standIn']): void {
    for (const [index, misfit] of this.misfits.entries()) {
      const isItem = misfit.standIn === 'items' && placeOf(misfit.path.slice(0, list.length)) === placeOf(list);
      if (isItem) this.misfits[index] = { ...misfit, standIn };
    }
  }

  #fallbackAt(path: ConfigPath): boolean | undefined {
    this.#place ??= this.#schema.rootPlace(findFinalBlocks(this.root));
    return this.#place.at(path).fallback;
  }

  /**
   * Each edit of a block makes only that block anew, because a copy of the root has as many members as there are
   * services. A section's check is remembered by its object, so the edits of sections make a new root each.
   */
  #edit(edits: readonly ConfigEdit[]): void {
    const edited = withEdits(this.root, edits, new WeakSet(this.#copy === undefined ? [] : [this.#copy]));
    if (this.#areSectionsDone && edited !== this.root) this.#copy = edited as ConfigObject;
    this.root = edited as ConfigObject;
  }
}

/** The items of lists that do not fit. */
class UnfitItems {
  readonly #lists = new Map<string, { readonly path: ConfigPath; readonly without: Set<number> }>();

  get paths(): readonly ConfigPath[] {
    return [...this.#lists.values()].map(({ path }) => path);
  }

  add(path: ConfigPath, index: number): void {
    const place = placeOf(path);
    const list = this.#lists.get(place) ?? { path, without: new Set() };
    this.#lists.set(place, list);
    list.without.add(index);
  }

  /** The edits that leave the items out. */
  editsOf(root: ConfigObject): ConfigEdit[] {
    return [...this.#lists.values()].map(({ path, without }) => {
      const items = valueAt(root, path) as readonly unknown[];
      return { path, value: items.filter((_item, index) => !without.has(index)) };
    });
  }
}

/** What stands among the tried places for a list without the items that do not fit. */
function itemsOf(place: string): string {
  return `items of ${place}`;
}

function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'string' ? YAML_WORDS.get(value.trim().toLowerCase()) : undefined;
}
