// The configuration in force: its layers, and everything derived from them. Only an update or the file changes it.
import { createHash } from 'node:crypto';
import type { ConfigObject, ConfigProblem, GivenBlock, NamedBlock } from '../contract/config.ts';
import { deepFreeze } from '../kit/deep-freeze.ts';
import { findFinalBlocks } from '../kit/named-blocks.ts';
import { valueAt } from '../kit/value-at.ts';
import { type Environment, type EnvironmentEdit, environmentEdits, type UnusedVariable } from './environment.ts';
import { type Fitted, fit, keyOf, type Misfit } from './fit.ts';
import { type ConfigEdit, merge, placeOf, startsWith, withEdits } from './layers.ts';
import type { MainFile } from './main-file.ts';
import type { Place } from './marks.ts';
import { keptProblem, problemsOf, variableProblem } from './problems.ts';
import type { ConfigSchema } from './schema.ts';

/** The layers on top of each other, made to fit the schema. */
export interface Layered {
  readonly root: Readonly<ConfigObject>;
  /** The root before blocks with values that do not fit were disabled, as answers show it. */
  readonly open: Readonly<ConfigObject>;
  /** The edits that the environment layer makes. */
  readonly overrides: readonly EnvironmentEdit[];
  readonly misfits: readonly Misfit[];
  readonly unusedVariables: readonly UnusedVariable[];
  /** Problems of variables whose values do not fit, and which are ignored. */
  readonly ignored: readonly ConfigProblem[];
}

/** Everything that is derived from the layers and the schema. */
export interface Effective extends Layered {
  /** All named blocks. */
  readonly blocks: readonly NamedBlock[];
  /** The blocks that are processes: the first of several with the same name. */
  readonly processes: readonly NamedBlock[];
  /** The processes by their names. */
  readonly byName: ReadonlyMap<string, NamedBlock>;
  readonly problems: readonly ConfigProblem[];
  readonly disabledBlocks: ReadonlyMap<string, string>;
  /** Why no service may be started; null when they may. */
  readonly unsafe: string | null;
  readonly revision: string;
  /** The root place, from which the marks of every other place are found. */
  readonly place: Place;
}

export interface CurrentConfigParts {
  readonly file: MainFile;
  readonly schema: ConfigSchema;
  readonly environment: Environment;
}

export class CurrentConfig {
  readonly #parts: CurrentConfigParts;
  #overlay: readonly ConfigEdit[] = [];
  #effective: Effective | undefined;
  /** Guards against code of plugins that asks for the configuration while it is computed, which would never end. */
  #isComputing = false;
  /** The latest result of `layered`, kept because the one of a saved update comes into force next. */
  #layered:
    | { readonly file: ConfigObject; readonly overlay: readonly ConfigEdit[]; readonly made: Layered }
    | undefined;

  #withoutMemory: { readonly file: ConfigObject; readonly made: Layered } | undefined;

  constructor(parts: CurrentConfigParts) {
    this.#parts = parts;
  }

  /** Edits that exist in memory only and win over the environment. */
  get overlay(): readonly ConfigEdit[] {
    return this.#overlay;
  }

  set overlay(overlay: readonly ConfigEdit[]) {
    this.#overlay = overlay;
    this.#effective = undefined;
  }

  /** Takes note of a process that runs or has ended; see `ConfigStore.keepBlock`. */
  keepBlock(processName: string, isKept: boolean): void {
    const { file, schema } = this.#parts;
    const path = isKept ? this.effective().byName.get(processName)?.path : undefined;
    if (path !== undefined) schema.kept.use(processName, { path, isInFile: valueAt(file.value, path) !== undefined });
    if (!isKept && schema.kept.release(processName)) this.outdate();
  }

  /** See `ConfigStore.givenBlock`. */
  givenBlock(processName: string): GivenBlock | undefined {
    const { file, schema } = this.#parts;
    const path = this.effective().byName.get(processName)?.path;
    if (path === undefined || valueAt(file.value, [...path, 'process_name']) !== undefined) return undefined;
    const plugin = schema.giverOf(processName, path);
    return plugin === undefined ? undefined : { plugin, path, isInFile: valueAt(file.value, path) !== undefined };
  }

  /** See `ConfigStore.regainBlock`. */
  regainBlock(processName: string, given: GivenBlock, members: Readonly<ConfigObject>): boolean {
    const { schema } = this.#parts;
    schema.kept.regain(processName, given, { ...members, process_name: processName });
    this.outdate();
    const isBack = this.effective().byName.has(processName);
    if (!isBack) this.keepBlock(processName, false);
    return isBack;
  }

  /** The effective value that the layers have without what exists in memory only. */
  withoutMemory(): Layered {
    if (this.#overlay.length === 0) return this.effective();
    const file = this.#parts.file.value;
    if (this.#withoutMemory?.file !== file) this.#withoutMemory = { file, made: this.#layersOf(file, []) };
    return this.#withoutMemory.made;
  }

  /** Discards what was derived, because the file or the schema changed. */
  outdate(): void {
    this.#effective = undefined;
    this.#layered = undefined;
    this.#withoutMemory = undefined;
  }

  /** Computed on demand, because plugins register many sections in a row. */
  effective(): Effective {
    this.#effective ??= this.#computed();
    return this.#effective;
  }

  #computed(): Effective {
    if (this.#isComputing) throw new Error('what the configuration is made of cannot ask for the configuration');
    this.#isComputing = true;
    try {
      return this.#compute();
    } finally {
      this.#isComputing = false;
    }
  }

  /** The effective value that these layers would have. */
  layered(file: ConfigObject, overlay: readonly ConfigEdit[]): Layered {
    if (this.#layered?.file !== file || this.#layered.overlay !== overlay)
      this.#layered = { file, overlay, made: this.#layersOf(file, overlay) };
    return this.#layered.made;
  }

  #layersOf(file: ConfigObject, overlay: readonly ConfigEdit[]): Layered {
    const { schema, environment } = this.#parts;
    const defaults = schema.defaults(file);
    const fromFile = fit(merge(defaults, file) as ConfigObject, defaults, schema);
    const { edits, unused } = environmentEdits(fromFile.root, environment, schema.formerPaths());
    // Nothing may stand in for a member with `fallback: false`, so its variable counts even when it does not fit.
    const isIrreplaceable = ({ path }: UnusedVariable): boolean =>
      schema.rootPlace(findFinalBlocks(fromFile.root)).at(path).fallback === false;
    const unusedVariables = unused.filter(variable => !isIrreplaceable(variable));
    const given = [...edits, ...unused.filter(isIrreplaceable).map(({ text, ...at }) => ({ ...at, value: text }))];
    if (given.length + overlay.length === 0)
      return this.#finished(fromFile, { overrides: [], ignored: [], unusedVariables });
    const layersOn = (overrides: readonly EnvironmentEdit[]): Fitted => {
      const memory = this.#inMemory(file, overlay, overrides);
      const top = fit(withEdits(fromFile.root, [...overrides, ...memory]) as ConfigObject, defaults, schema);
      return { root: top.root, misfits: joined(fromFile.misfits, top.misfits) };
    };
    const known = new Set(fromFile.misfits.map(keyOf));
    const all = layersOn(given);
    const added = all.misfits.filter(misfit => !known.has(keyOf(misfit)));
    const causeOf = ({ path }: EnvironmentEdit): Misfit | undefined =>
      added.find(misfit => !misfit.isFatal && (startsWith(misfit.path, path) || startsWith(path, misfit.path)));
    const ignored = given.flatMap(edit => {
      const cause = causeOf(edit);
      return cause === undefined ? [] : [variableProblem(edit, cause)];
    });
    if (ignored.length === 0) return this.#finished(all, { overrides: given, ignored, unusedVariables });
    const overrides = given.filter(edit => causeOf(edit) === undefined);
    return this.#finished(layersOn(overrides), { overrides, ignored, unusedVariables });
  }

  /** The edits of memory. For a member that memory deletes, its default counts, or the value of the environment. */
  #inMemory(
    file: ConfigObject,
    overlay: readonly ConfigEdit[],
    overrides: readonly EnvironmentEdit[],
  ): readonly ConfigEdit[] {
    const deletions = overlay.filter(({ value }) => value === undefined);
    if (deletions.length === 0) return overlay;
    const defaults = this.#parts.schema.defaults(withEdits(file, deletions) as ConfigObject);
    return overlay.map(edit => {
      const { path, value } = edit;
      if (value !== undefined || valueAt(defaults, path) === undefined) return edit;
      const given = overrides.filter(override => startsWith(override.path, path));
      return { path, value: valueAt(withEdits(defaults, given), path) };
    });
  }

  /** Adds the defaults of contributions to blocks that lack them, and disables the blocks whose misfits demand it. */
  #finished({ root, misfits }: Fitted, rest: Omit<Layered, 'root' | 'open' | 'misfits'>): Layered {
    const open = this.#parts.schema.completed(root);
    const disabling = misfits.flatMap(({ disables }) =>
      disables === null ? [] : [{ path: [...disables, 'enabled'], value: false }],
    );
    return { root: withEdits(open, disabling) as ConfigObject, open, misfits, ...rest };
  }

  #compute(): Effective {
    const { file, schema } = this.#parts;
    const layered = this.layered(file.value, this.#overlay);
    const { misfits, ignored, overrides } = layered;
    const root = deepFreeze(layered.root);
    const blocks = findFinalBlocks(root);
    const problems = problemsOf(misfits, { blocks, file: file.path, overrides });
    const kept = schema.keptBlocks(file.value).map(keptProblem);
    const byName = new Map(blocks.toReversed().map(block => [block.processName, block]));
    const processes = blocks.filter(block => byName.get(block.processName) === block);
    const byPlace = new Map(misfits.length === 0 ? [] : processes.map(block => [placeOf(block.path), block]));
    const disabledBlocks = new Map<string, string>();
    for (const [index, { disables }] of misfits.entries()) {
      const block = disables === null ? undefined : byPlace.get(placeOf(disables));
      if (block === undefined || disabledBlocks.has(block.processName)) continue;
      disabledBlocks.set(block.processName, problems[index]?.message ?? '');
    }
    for (const { processName, message } of kept) disabledBlocks.set(processName, message);
    let revision: string | undefined;
    let place: Place | undefined;
    return {
      ...layered,
      root,
      open: deepFreeze(layered.open),
      blocks,
      processes,
      byName,
      problems: [...problems, ...kept, ...ignored],
      disabledBlocks,
      unsafe: problems[misfits.findIndex(({ isFatal }) => isFatal)]?.message ?? null,
      // Made on demand, because the configuration is computed several times before either is read.
      get revision() {
        revision ??= createHash('sha256').update(JSON.stringify(root)).digest('hex').slice(0, 16);
        return revision;
      },
      get place() {
        place ??= schema.rootPlace(blocks);
        return place;
      },
    };
  }
}

/** A stand-in for a value of the file hides that value from the second fit, so the misfit of the first one is kept. */
function joined(ofFile: readonly Misfit[], ofAll: readonly Misfit[]): readonly Misfit[] {
  const places = new Set(ofAll.map(({ path }) => placeOf(path)));
  return [...ofFile.filter(({ path, standIn }) => standIn !== null && !places.has(placeOf(path))), ...ofAll];
}
