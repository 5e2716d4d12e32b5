// Refuses a launch whose user cannot reach the program, its scripts or its directory, and says what to do.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type Logger, Problem } from '#core';
import { lacksDescriptors } from '#kit/descriptors';
import { localPlaces } from '#kit/local-place';
import { type Reach, reachOf, type Wanted } from '#kit/service-user';
import type { LaunchPlan } from '../contract.ts';
import { type Interpreter, interpretersOf } from './interpreter.ts';
import { wayMarks } from './way-marks.ts';

/** Words of a command that end like this are taken for files even without a slash. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|rb|pl|php|sh|jar)$/;

/** A file that the launch needs; `interpreter` is present when the first line of `script` names the file. */
interface Needed extends Wanted {
  readonly interpreter?: Interpreter & { readonly script: string };
}

interface Looked extends Needed {
  readonly reach: Reach | undefined;
}

interface Opened {
  readonly question: string;
  readonly places: readonly string[];
  readonly marks: string | undefined;
}

/**
 * What the last start of each process could reach, so that the restart of a crashed one waits for no child process that
 * checks it. A change that the marks do not show, such as that of an access list, makes the launch itself fail.
 */
const lastOpened = new Map<string, Opened>();

/**
 * False when `ownDirectory`, the directory that the host has chosen for the service, is closed. Throws a Problem 400
 * that names the first closed part of the way to anything else. When this cannot be determined, the result is true, and
 * the launch itself fails if it must; for want of descriptors that error is thrown.
 */
export async function checkReachable(plan: LaunchPlan, log: Logger, ownDirectory?: string): Promise<boolean> {
  const { processName, user } = plan;
  if (user === null && process.getuid?.() === 0) return true;
  const programs = programPlaces(plan);
  const named = otherPlaces(plan);
  const question = JSON.stringify([user, programs, named]);
  if (await isStillOpen(processName, question)) return true;
  const others: Needed[] = [...named, ...(await interpreterPlaces(programs, plan))];
  let reaches: Reach[];
  try {
    reaches = await reachOf([...programs, ...others], user ?? undefined);
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    log.warn(`${processName}: nobody could tell whether its user reaches its files`, error);
    return true;
  }
  const looked = [...programs, ...others].map((needed, index): Looked => ({ ...needed, reach: reaches[index] }));
  const [ofPrograms, ofOthers] = [looked.slice(0, programs.length), looked.slice(programs.length)];
  const directory = ofOthers.find(({ use }) => use === 'enter');
  if (ownDirectory !== undefined && plan.cwd === ownDirectory && directory?.reach !== 'open') return false;
  // The first program that can be run counts; only when there is none is an unreachable program the fault.
  const program = ofPrograms.find(isOpen);
  await refuseClosed(plan, program === undefined ? ofPrograms : countingFor(program, ofOthers));
  if (program !== undefined) {
    const opened = [program, ...others].map(({ place }) => place);
    lastOpened.set(processName, { question, places: opened, marks: await wayMarks(opened) });
  }
  return true;
}

/** The files without which the program does not run: no interpreters of other programs, nor any that was found. */
function countingFor(program: Wanted, others: readonly Looked[]): Looked[] {
  const found = new Set(others.filter(isOpen).map(({ interpreter }) => interpreter));
  return others.filter(
    ({ interpreter }) => interpreter === undefined || (interpreter.script === program.place && !found.has(interpreter)),
  );
}

/** Throws a Problem for the first file that is closed, or for an interpreter that is at none of its places. */
async function refuseClosed(plan: LaunchPlan, files: readonly Looked[]): Promise<void> {
  for (const [index, file] of files.entries()) {
    const { reach, place, interpreter } = file;
    if (typeof reach === 'object' && (await exists(place))) throw await outOfReach(plan, file, reach.closed);
    const isLast = files[index + 1]?.interpreter !== interpreter;
    if (interpreter !== undefined && isLast) throw withoutInterpreter(plan, interpreter);
  }
}

function isOpen({ reach }: Looked): boolean {
  return reach === 'open';
}

/**
 * Same for a running process. Nothing is checked when a place is on a mount that may not answer: it may be that of the
 * service itself, and the reason of its restart.
 */
export async function checkStillReachable(plan: LaunchPlan, log: Logger): Promise<void> {
  const isLocal = await localPlaces();
  const places = [...programPlaces(plan), ...otherPlaces(plan)];
  const local = await Promise.all(places.map(({ place }) => isLocal(place)));
  if (!local.includes(false)) await checkReachable(plan, log);
}

async function isStillOpen(processName: string, question: string): Promise<boolean> {
  const last = lastOpened.get(processName);
  if (last?.marks === undefined || last.question !== question) return false;
  return (await wayMarks(last.places)) === last.marks;
}

function programPlaces({ argv, cwd, env }: LaunchPlan): Wanted[] {
  const [program = ''] = argv;
  const places = program.includes('/')
    ? [path.resolve(cwd ?? '.', program)]
    : directoriesOf(env).map(directory => path.join(directory, program));
  return places.map(place => ({ place, use: 'run' }));
}

/** The working directory, and every argument or value of an option that may be a file. */
function otherPlaces({ argv, cwd }: LaunchPlan): Wanted[] {
  const named = argv
    .slice(1)
    .map(word => (word.startsWith('-') ? word.slice(word.indexOf('=') + 1 || word.length) : word))
    .filter(word => path.isAbsolute(word) || (cwd !== undefined && (word.includes('/') || SCRIPT.test(word))))
    .map((word): Wanted => ({ place: path.resolve(cwd ?? '/', word), use: 'name' }));
  return cwd === undefined ? named : [{ place: cwd, use: 'enter' }, ...named];
}

/** The interpreters that the first lines of scripts name, which the command does not show. */
async function interpreterPlaces(programs: readonly Wanted[], { cwd, env }: LaunchPlan): Promise<Needed[]> {
  const around = { cwd, directories: directoriesOf(env) };
  const found = await Promise.all(
    programs.map(async ({ place: script }) =>
      (await interpretersOf(script, around)).flatMap(({ name, places }) => {
        const interpreter = { name, places, script };
        return places.map((place): Needed => ({ place, use: 'run', interpreter }));
      }),
    ),
  );
  return found.flat();
}

function directoriesOf(env: LaunchPlan['env']): string[] {
  return (env.PATH ?? '').split(':').filter(Boolean);
}

/**
 * A host that is not root may be unable to see the place. EACCES counts as existing, because a closed part was found.
 */
async function exists(place: string): Promise<boolean> {
  return stat(place).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'EACCES',
  );
}

function withoutInterpreter(
  { processName, argv: [program] }: LaunchPlan,
  { name, script }: NonNullable<Needed['interpreter']>,
): Problem {
  return new Problem(
    400,
    `${processName} cannot start: command ${program} needs an interpreter or loader that is missing: ${JSON.stringify(name)}, ` +
      `which the first line of ${script} names; install it, or correct that line`,
  );
}

async function outOfReach(
  { processName, user }: LaunchPlan,
  { place, interpreter }: Needed,
  closed: string,
): Promise<Problem> {
  const { mode } = await stat(closed);
  const role = interpreter === undefined ? '' : `, the interpreter that the first line of ${interpreter.script} names`;
  const what = `${place}${role}${closed === place ? '' : `: ${closed} is closed to it`} (mode ${octal(mode)})`;
  return new Problem(
    400,
    `${processName} was not started: it runs as user ${user?.uid ?? process.getuid?.()}, which cannot use ${what}. ` +
      'Choose another --config-dir or another place, open that one with chmod, or set puid and pgid to its owner',
    { code: 'process.out-of-reach' },
  );
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}
