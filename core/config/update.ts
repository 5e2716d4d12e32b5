// Makes an update of the configuration: resolves, checks, writes, swaps in memory and announces it, completely or not
// at all.
import { AsyncLocalStorage } from 'node:async_hooks';
import type {
  ConfigCandidate,
  ConfigObject,
  ConfigUpdate,
  ConfigUpdateResult,
  NamedBlock,
} from '../contract/config.ts';
import type { Logger } from '../contract/log.ts';
import { Problem } from '../contract/problem.ts';
import { deepEqual } from '../kit/deep-equal.ts';
import { refuseInfinite, refuseRounded } from '../kit/finite-data.ts';
import { duplicateNames, findFinalBlocks, matchBlock } from '../kit/named-blocks.ts';
import { refuseForbiddenKeys, refuseLargeData } from '../kit/plain-data.ts';
import { isObject } from '../kit/plain-object.ts';
import { unknownProcess } from '../kit/unknown-process.ts';
import { valueAt } from '../kit/value-at.ts';
import { WorkQueue } from '../kit/work-queue.ts';
import type { Announcements, Cause } from './announcements.ts';
import { tellsRelation } from './block-marks.ts';
import type { CurrentConfig, Effective, Layered } from './current.ts';
import { keyOf, type Misfit } from './fit.ts';
import { type ConfigEdit, type ConfigPath, changedPaths, dotted, placeOf } from './layers.ts';
import { MAX_CHARACTERS } from './load.ts';
import type { MainFile } from './main-file.ts';
import { keptProblem } from './problems.ts';
import { lostMasks } from './restored-secrets.ts';
import { unreadLook } from './review.ts';
import type { ConfigSchema } from './schema.ts';
import { MASK } from './secrets.ts';
import { UpdateEdits } from './update-edits.ts';
import { planUpdate } from './update-plan.ts';
import { refuseWithoutLogin } from './without-login.ts';

type Check = (candidate: ConfigCandidate) => Promise<void>;

export interface UpdateParts {
  readonly current: CurrentConfig;
  readonly file: MainFile;
  readonly schema: ConfigSchema;
  readonly announcements: Announcements;
  readonly log: Logger;
  /** Whether every update acts in memory only, whatever it asks for. */
  readonly readOnly: boolean;
}

interface Checking {
  readonly of: Updates;
  isOver: boolean;
}

/** Marks code that the check of an update runs, until that check is over. One for all hosts of a process. */
const checking = new AsyncLocalStorage<Checking>();

export class Updates {
  readonly #parts: UpdateParts;
  readonly #queue = new WorkQueue({ concurrency: 1 });
  readonly #edits: UpdateEdits;
  #check: Check | undefined;
  /** The places of the named blocks at the last look; undefined before the first. */
  #places: ReadonlySet<string> | undefined;
  /** The messages that were logged about blocks that are kept without their plugins. */
  #toldKept: ReadonlySet<string> = new Set();

  constructor(parts: UpdateParts) {
    this.#parts = parts;
    this.#edits = new UpdateEdits(parts);
  }

  onCheck(check: Check): void {
    this.#check = check;
  }

  async make(update: ConfigUpdate): Promise<ConfigUpdateResult> {
    const present = checking.getStore();
    if (present?.of === this && !present.isOver) {
      throw new Error('a tap of config.check tried to update the configuration, which waits for this very check');
    }
    const { announcements } = this.#parts;
    const cause = announcements.cause(update.actor);
    const { result, announced } = await this.#queue.add(() => this.#make(update, cause));
    if (!announcements.isListening) await announced;
    return result;
  }

  /**
   * Takes over changes that others made to the file. A file that cannot be used is reported again when `isAsked` is
   * true.
   */
  takeOverFile(how: { readonly isAsked: boolean }): Promise<void> {
    return this.#queue.add(() => this.#takeOver(() => this.#parts.file.reread(how)));
  }

  /**
   * Announces named blocks that plugins have brought since the last look; without `isTold` it only looks. Blocks that
   * are kept without their plugins are logged.
   */
  takeOverPlugins({ isTold }: { readonly isTold: boolean }): Promise<void> {
    return this.#queue.add(async () => {
      this.#tellKept();
      const paths = this.#newPlaces().map(dotted);
      if (!isTold || paths.length === 0) return;
      const change = { paths, processName: undefined, actor: 'plugins', persisted: true };
      void this.#parts.announcements.announce(change, []);
    });
  }

  #tellKept(): void {
    const { schema, file, log } = this.#parts;
    const kept = schema.keptBlocks(file.value).map(block => keptProblem(block).message);
    for (const message of kept) if (!this.#toldKept.has(message)) log.warn(message);
    this.#toldKept = new Set(kept);
  }

  /** The paths of named blocks that are new since the last look. */
  #newPlaces(): ConfigPath[] {
    const { blocks } = this.#parts.current.effective();
    const known = this.#places;
    this.#places = new Set(blocks.map(({ path }) => placeOf(path)));
    return blocks.map(({ path }) => path).filter(path => known?.has(placeOf(path)) === false);
  }

  onIdle(): Promise<void> {
    return this.#queue.onIdle();
  }

  /** Updates are made one at a time. This only begins the announcement, so a listener may make the next update. */
  async #make(
    update: ConfigUpdate,
    cause: Cause,
  ): Promise<{ readonly result: ConfigUpdateResult; readonly announced: Promise<void> }> {
    const { current, file, announcements } = this.#parts;
    const persist = update.persist && !this.#parts.readOnly;
    if (persist) await this.#takeOver(() => file.takeOverOutsideChanges());
    const updates = updatesOf(update);

    const effective = current.effective();
    const { root: before, byName, processes, blocks, place } = effective;
    const name = update.processName;
    const block = name === undefined ? undefined : (byName.get(name) ?? matchBlock(processes, name));
    if (name !== undefined && block === undefined) throw unknownProcess(name);
    await refuseRounded(updates, () => before);
    const edits = this.#edits.of(updates, block);
    const plan = planUpdate({ edits, moves: update.moves ?? [], persist }, current, file.value);
    const after = plan.next.root;
    // The next start could not read a larger file.
    refuseLargeData(after, MAX_CHARACTERS);
    refuseNewMisfits(effective, plan.next);
    const warnings = [...plan.warnings, ...maskWarnings(updates, after, block)];
    await this.#checked({ before, after, processName: block?.processName, persist, warnings });
    if (update.mayRemove !== true) this.#refuseLosses(edits, effective, block);
    if (update.byAnybody === true) {
      const isMending = (path: ConfigPath) => this.#edits.isStandIn(path);
      refuseWithoutLogin({ paths: changedPaths(before, after), after, blocks, place, file: file.path, isMending });
    }

    if (update.trial === true) {
      const { revision } = effective;
      const result = { persisted: false, changed: [], overridden: [], restartRequired: [], warnings, revision };
      return { result, announced: Promise.resolve() };
    }
    const { state } = file;
    if (persist) warnings.push(...(await file.write(plan.written, plan.stored)));
    current.overlay = plan.overlay;

    const { root, revision } = current.effective();
    const unreadPart = unreadLook(root, current.effective().place);
    const given = plan.own.filter(({ path, value }) => value !== undefined && !deepEqual(valueAt(before, path), value));
    const unread = given.flatMap(({ path }) => {
      const part = unreadPart(path);
      return part === undefined || this.#isRelation(part) ? [] : [`nothing reads ${dotted(part)}; it is kept as it is`];
    });
    warnings.push(...new Set(unread));
    const changed = changedPaths(before, root);
    const isToldOf = changed.length > 0 || file.state !== state || !hasSameProblems(effective, current.effective());
    const paths = changed.map(dotted);
    const isLaunched = launchedAnew(blocks);
    const persisted = plan.isPersisted;
    const change = { paths, processName: block?.processName, actor: update.actor, persisted };
    this.#newPlaces();
    const announced = isToldOf ? announcements.announce(change, cause) : Promise.resolve();
    const result = {
      persisted,
      changed: paths,
      overridden: plan.written.filter(plan.isOverridden).map(({ path }) => dotted(path)),
      restartRequired: changed
        .filter(path => !(place.at(path).live ?? !isLaunched(path)) && unreadPart(path) === undefined)
        .map(dotted),
      warnings,
      revision,
    };
    return { result, announced };
  }

  #refuseLosses(edits: readonly ConfigEdit[], { root, blocks }: Effective, block: NamedBlock | undefined): void {
    if (block === undefined) this.#edits.refuseLosses(edits, root, blocks);
    else this.#edits.refuseReplacedLosses(edits, blocks);
  }

  /** Whether the key tells how the block relates to other services. */
  #isRelation(path: ConfigPath): boolean {
    const { current, schema } = this.#parts;
    const around = placeOf(path.slice(0, -1));
    const block = current.effective().blocks.find(named => placeOf(named.path) === around);
    return block !== undefined && tellsRelation(schema.blockMarks(block.configKey), path.at(-1) ?? '');
  }

  async #takeOver(read: () => Promise<boolean>): Promise<void> {
    const { current, file, announcements, log } = this.#parts;
    const before = current.effective();
    const { state } = file;
    if (!(await read())) return;
    current.outdate();
    const after = current.effective();
    const paths = changedPaths(before.root, after.root).map(dotted);
    if (paths.length === 0 && file.state === state && hasSameProblems(before, after)) return;
    log.info(`the configuration file was changed outside: ${paths.length} values`);
    this.#newPlaces();
    void announcements.announce({ paths, processName: undefined, actor: 'file', persisted: true }, []);
  }

  async #checked(candidate: ConfigCandidate): Promise<void> {
    const context: Checking = { of: this, isOver: false };
    try {
      await checking.run(context, async () => this.#check?.(candidate));
    } finally {
      context.isOver = true;
    }
  }
}

/** Throws a Problem 400 for forbidden keys and numbers, and what the function of the update throws. */
function updatesOf({ updates: given }: ConfigUpdate): ConfigObject {
  const updates = typeof given === 'function' ? given() : given;
  if (updates instanceof Promise) throw new Error('the function `updates` gave a promise; it must give an object');
  refuseForbiddenKeys(updates);
  refuseInfinite(updates);
  return updates;
}

/** Tells of secrets that are lost because an update sends their masks for other places than their own. */
function maskWarnings(updates: ConfigObject, after: Readonly<ConfigObject>, block: NamedBlock | undefined): string[] {
  const at = block?.path ?? [];
  return lostMasks(updates, valueAt(after, at), at).map(
    path => `${dotted(path)} is left out, because ${MASK} hides nothing there; send the value itself`,
  );
}

/** Throws a Problem 400 for a misfit that is new; one that was there before and stays does not hinder an update. */
function refuseNewMisfits(before: Layered, after: Layered): void {
  const known = new Map(before.misfits.map(misfit => [keyOf(misfit), misfit.value]));
  const isNew = (misfit: Misfit): boolean => {
    const key = keyOf(misfit);
    if (!known.has(key)) return true;
    return !isObject(misfit.value) && !deepEqual(known.get(key), misfit.value);
  };
  const misfit = after.misfits.find(isNew);
  if (misfit !== undefined) throw new Problem(400, `${dotted(misfit.path) || 'the configuration'}: ${misfit.message}`);
  const repeated = duplicateNames(findFinalBlocks(after.root));
  if (repeated.length === 0) return;
  const namedTwice = new Set(duplicateNames(findFinalBlocks(before.root)));
  const twice = repeated.find(name => !namedTwice.has(name));
  if (twice !== undefined) throw new Problem(400, `the process_name '${twice}' is already in use`);
}

function hasSameProblems(before: Effective, after: Effective): boolean {
  return deepEqual(before.problems, after.problems);
}

/**
 * The test whether a change takes effect only at the next launch of a service: without a mark, that holds for changes
 * inside its block, and any other takes effect at once.
 */
function launchedAnew(blocks: readonly NamedBlock[]): (path: ConfigPath) => boolean {
  const places = new Set(blocks.filter(({ isHost }) => !isHost).map(({ path }) => placeOf(path)));
  return path => path.some((_key, index) => places.has(placeOf(path.slice(0, index + 1))));
}
