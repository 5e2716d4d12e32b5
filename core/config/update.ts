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
import { duplicateNames, matchBlock } from '../kit/named-blocks.ts';
import { refuseForbiddenKeys, refuseLargeData } from '../kit/plain-data.ts';
import { isObject } from '../kit/plain-object.ts';
import { unknownProcess } from '../kit/unknown-process.ts';
import { WorkQueue } from '../kit/work-queue.ts';
import type { Announcements, Cause } from './announcements.ts';
import { blocksOf } from './blocks.ts';
import type { CurrentConfig, Effective, Layered } from './current.ts';
import { keyOf, type Misfit } from './fit.ts';
import {
  type ConfigEdit,
  type ConfigPath,
  changedPaths,
  dotted,
  placeOf,
  startsWith,
  valueAt,
  withEdits,
  withoutPaths,
} from './layers.ts';
import { MAX_CHARACTERS } from './load.ts';
import type { MainFile } from './main-file.ts';
import { unreadLook } from './review.ts';
import type { ConfigSchema } from './schema.ts';
import { repeatedLists, storedEdits, withUnshownItems } from './stored.ts';
import { UpdateEdits } from './update-edits.ts';
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

  /** Takes over changes that others made to the file. One that cannot be used is told again when somebody asks. */
  takeOverFile(how: { readonly isAsked: boolean }): Promise<void> {
    return this.#queue.add(() => this.#takeOver(() => this.#parts.file.reread(how)));
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
    refuseForbiddenKeys(update.updates);
    refuseInfinite(update.updates);
    if (persist) await this.#takeOver(() => file.takeOverOutsideChanges());

    const effective = current.effective();
    const { root: before, open: shown, overrides, byName, blocks, place } = effective;
    const name = update.processName;
    const block = name === undefined ? undefined : (byName.get(name) ?? matchBlock(blocks, name));
    if (name !== undefined && block === undefined) throw unknownProcess(name);
    await refuseRounded(update.updates, () => before);
    const edits = this.#edits.of(update.updates, block);

    const overrideOf = (edit: ConfigEdit) => overrides.find(override => startsWith(override.path, edit.path));
    /** What merely repeats a value of the environment or of memory above it settles nothing. */
    const isOwn = (edit: ConfigEdit) =>
      overrideOf(edit) === undefined || changedPaths(valueAt(shown, edit.path), edit.value).length > 0;
    const own = edits.filter(isOwn);
    const lower = current.overlay.length === 0 ? effective : current.layered(file.value, []);
    const moves = persist ? movesIn(file.value, update.moves ?? []) : [];
    const moved = withEdits(file.value, moves) as ConfigObject;
    const alone = persist ? aloneInMemory(blocks, lower.root, own) : [];
    const [inMemory, saved] = parted(own, ({ path }) => alone.some(block => isBelow(path, block.path)));
    const isPersisted = persist && (saved.length > 0 || inMemory.length === 0);
    const changes = persist ? storedEdits(saved, { file: moved, shown: lower.open, overrides }) : [];
    const overlay = persist
      ? [...withoutPaths(current.overlay, own.map(pathOf)), ...inMemory]
      : [...withoutPaths(current.overlay, edits.map(pathOf)), ...edits];

    const stored = withEdits(file.value, [...moves, ...changes]) as ConfigObject;
    const next = current.layered(stored, overlay);
    const after = next.root;
    // The next start could not read a file with more.
    refuseLargeData(after, MAX_CHARACTERS);
    refuseNewMisfits(effective, next);
    const warnings = persist
      ? repeatedLists(own, overrides).map(
          ({ path, variable }) => `${dotted(path)} comes from ${variable}; change it there`,
        )
      : [];
    for (const block of alone.filter(({ path }) => inMemory.some(edit => isBelow(edit.path, path)))) {
      const what = `${block.processName} is in memory alone, and so is this change`;
      warnings.push(`${what}; save its whole block to keep both`);
    }
    await this.#checked({ before, after, processName: block?.processName, persist, warnings });
    if (block === undefined && update.mayRemove !== true) this.#edits.refuseLosses(edits, before, blocks);
    if (update.byAnybody === true) {
      const isMending = (path: ConfigPath) => this.#edits.isStandIn(path);
      refuseWithoutLogin({ paths: changedPaths(before, after), after, blocks, place, file: file.path, isMending });
    }

    if (update.trial === true) {
      const { revision } = effective;
      const result = { persisted: false, changed: [], overridden: [], restartRequired: [], warnings, revision };
      return { result, announced: Promise.resolve() };
    }
    const whole = withUnshownItems(changes, { file: moved, misfits: lower.misfits, place });
    const wholeStored = whole === changes ? stored : (withEdits(file.value, [...moves, ...whole]) as ConfigObject);
    // A list that is full has no room for them.
    const isWhole = whole === changes || deepEqual(current.layered(wholeStored, overlay).root, after);
    const written = [...moves, ...(isWhole ? whole : changes)];
    warnings.push(...(await file.write(written, isWhole ? wholeStored : stored)));
    current.overlay = overlay;

    const { root, revision } = current.effective();
    const unreadPart = unreadLook(root, current.effective().place);
    const { schema } = this.#parts;
    const isRelation = (part: ConfigPath): boolean =>
      current
        .effective()
        .blocks.filter(({ path }) => path.length === part.length - 1 && startsWith(part, path))
        .some(({ configKey }) => schema.blockMarks(configKey).relations.has(part.at(-1) ?? ''));
    const unread = unreadParts(own, before, unreadPart).filter(part => !isRelation(part));
    warnings.push(...new Set(unread.map(part => `nothing reads ${dotted(part)}; it is kept as it is`)));
    const changed = changedPaths(before, root);
    const isToldOf = changed.length > 0 || !hasSameProblems(effective, current.effective());
    const paths = changed.map(dotted);
    const isLaunched = launchedAnew(blocks);
    const change = { paths, processName: block?.processName, actor: update.actor, persisted: isPersisted };
    const announced = isToldOf ? announcements.announce(change, cause) : Promise.resolve();
    const result = {
      persisted: isPersisted,
      changed: paths,
      overridden: written.filter(edit => overrideOf(edit) !== undefined).map(({ path }) => dotted(path)),
      restartRequired: changed
        .filter(path => !(place.at(path).live ?? !isLaunched(path)) && unreadPart(path) === undefined)
        .map(dotted),
      warnings,
      revision,
    };
    return { result, announced };
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

/**
 * The blocks that memory alone has and that the edits do not name either: a part of one would be no block in the file,
 * and so nothing at the next start.
 */
function aloneInMemory(
  blocks: readonly NamedBlock[],
  lower: Readonly<ConfigObject>,
  edits: readonly ConfigEdit[],
): NamedBlock[] {
  return blocks.filter(({ path }) => {
    const name = [...path, 'process_name'];
    return valueAt(lower, name) === undefined && !edits.some(edit => placeOf(edit.path) === placeOf(name));
  });
}

function isBelow(path: ConfigPath, place: ConfigPath): boolean {
  return path.length > place.length && startsWith(path, place);
}

/** Those for which it holds, then the others. */
function parted<T>(values: readonly T[], holds: (value: T) => boolean): [T[], T[]] {
  return [values.filter(holds), values.filter(value => !holds(value))];
}

/** Throws a Problem 400 for what an update would make not fit; what did not fit before and stays hinders nobody. */
function refuseNewMisfits(before: Layered, after: Layered): void {
  const known = new Map(before.misfits.map(misfit => [keyOf(misfit), misfit.value]));
  const isNew = (misfit: Misfit): boolean => {
    const key = keyOf(misfit);
    if (!known.has(key)) return true;
    return !isObject(misfit.value) && !deepEqual(known.get(key), misfit.value);
  };
  const misfit = after.misfits.find(isNew);
  if (misfit !== undefined) throw new Problem(400, `${dotted(misfit.path) || 'the configuration'}: ${misfit.message}`);
  const repeated = duplicateNames(blocksOf(after.root));
  if (repeated.length === 0) return;
  const namedTwice = new Set(duplicateNames(blocksOf(before.root)));
  const twice = repeated.find(name => !namedTwice.has(name));
  if (twice !== undefined) throw new Problem(400, `the process_name '${twice}' is already in use`);
}

function hasSameProblems(before: Effective, after: Effective): boolean {
  return deepEqual(before.problems, after.problems);
}

/**
 * Whether a change acts when a service is launched again: without a mark those inside its block do, and any other acts
 * at once.
 */
function launchedAnew(blocks: readonly NamedBlock[]): (path: ConfigPath) => boolean {
  const places = new Set(blocks.filter(({ isHost }) => !isHost).map(({ path }) => placeOf(path)));
  return path => path.some((_key, index) => places.has(placeOf(path.slice(0, index + 1))));
}

/** The edits of the file that move its members; each says where the text of the value is. */
function movesIn(file: ConfigObject, moves: NonNullable<ConfigUpdate['moves']>): ConfigEdit[] {
  return moves.flatMap(({ from, to }) => {
    const value = valueAt(file, from);
    return value === undefined
      ? []
      : [
          { path: to, value, from },
          { path: from, value: undefined },
        ];
  });
}

function pathOf({ path }: ConfigEdit): ConfigPath {
  return path;
}

/** Where the update gives a new value to what nothing reads. */
function unreadParts(
  edits: readonly ConfigEdit[],
  before: Readonly<ConfigObject>,
  unreadPart: ReturnType<typeof unreadLook>,
): ConfigPath[] {
  const given = edits.filter(({ path, value }) => value !== undefined && !deepEqual(valueAt(before, path), value));
  return given.map(({ path }) => unreadPart(path)).filter(part => part !== undefined);
}
