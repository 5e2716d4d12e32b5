// Makes edits of single members from an update: one of the whole configuration is merged, one of a block replaces
// members.
import type { ConfigObject, NamedBlock } from '../contract/config.ts';
import { Problem } from '../contract/problem.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import type { CurrentConfig } from './current.ts';
import { type ConfigEdit, type ConfigPath, dotted, editsOf, startsWith } from './layers.ts';
import { restoredUpdate } from './restored-secrets.ts';
import type { ConfigSchema } from './schema.ts';

export interface UpdateEditsParts {
  readonly current: CurrentConfig;
  readonly schema: ConfigSchema;
  /** The configuration file, to which messages refer. */
  readonly file: { readonly path: string; readonly value: ConfigObject };
}

export class UpdateEdits {
  readonly #parts: UpdateEditsParts;

  constructor(parts: UpdateEditsParts) {
    this.#parts = parts;
  }

  /**
   * Throws a Problem 400 for unknown keys, and for new names of processes. `block` is undefined for the whole
   * configuration.
   */
  of(updates: ConfigObject, block: NamedBlock | undefined): ConfigEdit[] {
    return block === undefined ? this.#ofWhole(updates) : this.#ofBlock(block, updates);
  }

  /**
   * Throws a Problem 400 for a merge that removes too much: null removes optional members and instances of a key, but
   * no section and no other process.
   */
  refuseLosses(edits: readonly ConfigEdit[], before: Readonly<ConfigObject>, blocks: readonly NamedBlock[]): void {
    const byPlace = new Map(blocks.map(block => [block.path.join('\0'), block]));
    for (const edit of edits) {
      this.#refuseRename(edit, byPlace);
      if (!isObject(edit.value) && isObject(valueAt(before, edit.path))) this.#refuseRemoval(edit.path, blocks);
    }
  }

  #refuseRename({ path, value }: ConfigEdit, byPlace: ReadonlyMap<string, NamedBlock>): void {
    if (path.at(-1) !== 'process_name' || this.isStandIn(path)) return;
    const named = byPlace.get(path.slice(0, -1).join('\0'));
    if (named !== undefined && named.processName !== value) throw this.#nameStays(named);
  }

  #refuseRemoval(path: ConfigPath, blocks: readonly NamedBlock[]): void {
    if (this.#parts.schema.isSection(path))
      throw new Problem(400, `${dotted(path)} is a section and stays; set or remove its members one by one`);
    const lost = blocks.find(block => startsWith(block.path, path));
    if (lost === undefined || (isInstance(lost) && path.length === lost.path.length)) return;
    throw this.#blockStays(lost);
  }

  /**
   * The same for an update of a block: processes inside of replaced members stay, except for instances, and keep their
   * names.
   */
  refuseReplacedLosses(edits: readonly ConfigEdit[], blocks: readonly NamedBlock[]): void {
    for (const { path, value } of edits)
      for (const named of blocks.filter(block => startsWith(block.path, path))) {
        const left = valueAt(value, named.path.slice(path.length));
        if (!isObject(left)) {
          if (!isInstance(named)) throw this.#blockStays(named);
        } else if (left.process_name !== named.processName && !this.isStandIn([...named.path, 'process_name']))
          throw this.#nameStays(named);
      }
  }

  /** Whether the value that is shown at the path is, or lies in, a stand-in for one that does not fit. */
  isStandIn(path: ConfigPath): boolean {
    const { misfits } = this.#parts.current.effective();
    return misfits.some(misfit => misfit.standIn !== null && startsWith(path, misfit.path));
  }

  #ofWhole(updates: ConfigObject): ConfigEdit[] {
    const { current, schema } = this.#parts;
    const { root, place } = current.effective();
    const known = schema.rootKeys();
    for (const [key, value] of Object.entries(updates)) {
      if (value === null || known.has(key) || Object.hasOwn(root, key) || isProcessBlock(value)) continue;
      throw new Problem(
        400,
        `'${key}' is neither a known section nor a process block with process_name and command; ` +
          'GET /config/schema lists the sections',
      );
    }
    // Merging an empty object into an object changes nothing, and a client sends back as null what it got as null.
    const isNothing = ({ path, value }: ConfigEdit): boolean =>
      !this.isStandIn(path) &&
      ((isEmptyObject(value) && isObject(valueAt(root, path))) || (value === null && valueAt(root, path) === null));
    const stored = { inForce: root, withoutMemory: current.withoutMemory().root };
    return editsOf(restoredUpdate(updates, stored, place, 'merged'))
      .filter(edit => !isNothing(edit))
      .map(deletion);
  }

  #ofBlock(block: NamedBlock, updates: ConfigObject): ConfigEdit[] {
    const { current, schema } = this.#parts;
    if (schema.blockJsonSchema(block) === undefined) {
      throw new Problem(400, `${block.processName} has no schema, so it cannot be changed here`);
    }
    const keys = schema.blockKeys(block);
    const stored = { inForce: block.block, withoutMemory: valueAt(current.withoutMemory().root, block.path) };
    const restored = restoredUpdate(updates, stored, current.effective().place.at(block.path), 'replaced');
    for (const [key, value] of Object.entries(restored)) {
      if (value !== null && !keys.has(key) && !Object.hasOwn(block.block, key)) {
        throw new Problem(400, `'${key}' is not a key of ${block.processName}; GET /config/schema lists its keys`);
      }
      const isRenamed = key === 'process_name' && value !== block.block.process_name;
      if (isRenamed && !this.isStandIn([...block.path, key])) {
        throw this.#nameStays(block);
      }
    }
    // Null deletes, except for what a client got as null and sends back with the rest of the block.
    const isSame = ([key, value]: [string, unknown]): boolean => value === null && block.block[key] === null;
    return Object.entries(restored)
      .filter(member => !isSame(member))
      .map(([key, value]) => deletion({ path: [...block.path, key], value }));
  }

  /** Whether the block has its name in memory alone, so that it is no block any more at the next start. */
  #isInMemoryAlone({ path }: NamedBlock): boolean {
    const name = [...path, 'process_name'];
    return valueAt(this.#parts.current.withoutMemory().root, name) === undefined;
  }

  #blockStays(lost: NamedBlock): Problem {
    const { file } = this.#parts;
    const what = `${lost.processName} cannot be removed here`;
    if (this.#isInMemoryAlone(lost))
      return new Problem(400, `${what}; set its enabled to false: it is in memory alone, until the next start`);
    if (valueAt(file.value, lost.path) === undefined)
      return new Problem(400, `${what}; set its enabled to false: its block comes from a plugin, not from the file`);
    return new Problem(400, `${what}; set its enabled to false, or stop it and remove its block from ${file.path}`);
  }

  #nameStays(named: NamedBlock): Problem {
    const { processName } = named;
    const what = `the name of ${processName} cannot be changed or removed here`;
    if (this.#isInMemoryAlone(named))
      return new Problem(400, `${what}; add its block under another key: this one is in memory, until the next start`);
    return new Problem(400, `${what}; stop it and change process_name in ${this.#parts.file.path}`);
  }
}

/** Whether the block is one of the instances of a key. */
function isInstance({ path }: NamedBlock): boolean {
  return path[1] === 'instances';
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/** null deletes the value at its path. */
function deletion({ path, value }: ConfigEdit): ConfigEdit {
  return { path, value: value === null ? undefined : value };
}

function isProcessBlock(value: unknown): boolean {
  return isObject(value) && typeof value.process_name === 'string' && value.command !== undefined;
}
