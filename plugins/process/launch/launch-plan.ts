// Makes a launch plan from a configuration block. Placeholders are replaced in the plan, never in the configuration.
import { readFileSync } from 'node:fs';
import { type NamedBlock, Problem } from '#core';
import { WORK_VARIABLE } from '#kit/left-over';
import { placedValue } from '#kit/placed-value';
import type { PlaceholderValues } from '#kit/placeholder-values';
import { publicEnvironment } from '#kit/public-environment';
import type { LaunchPlan, StartTrigger } from '../contract.ts';
import { splitCommand } from './command-words.ts';
import { portsWaitedFor } from './waits.ts';

export interface PlanInput {
  readonly block: NamedBlock;
  readonly root: Readonly<Record<string, unknown>>;
  readonly trigger: StartTrigger;
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  /** Variables that are meant for the host, beside those that hold secrets. */
  readonly withheld: readonly string[];
  /** null for the host's own user. */
  readonly user: LaunchPlan['user'];
  /** Values for `{name}` from other plugins. */
  readonly placeholders: PlaceholderValues;
  showWait(what: string | null): void;
}

/** Throws a Problem that names the key, or the name that has no value, when the block cannot be launched. */
export function createLaunchPlan(input: PlanInput): LaunchPlan {
  const { block: named, root, trigger, signal, user } = input;
  const { processName, configKey, block } = named;
  const { placeholders } = input;
  const fill = filler(block, { puid: root.puid, pgid: root.pgid, tz: root.tz }, placeholders);
  const cwd = typeof block.config_dir === 'string' && block.config_dir !== '' ? block.config_dir : undefined;
  return {
    processName,
    configKey,
    block,
    trigger,
    signal,
    argv: commandWords(block.command, processName).map(word => fill(word)),
    cwd,
    env: environmentOf(input, fill),
    givenEnv: new Set(),
    user,
    showWait: what => input.showWait(what),
    waits: { mounts: [], urls: [], tcp: portsWaitedFor(block) },
  };
}

function commandWords(command: unknown, processName: string): string[] {
  if (Array.isArray(command)) return command.map(String);
  if (typeof command !== 'string') return [];
  try {
    return splitCommand(command);
  } catch (error) {
    throw new Problem(400, `${processName} cannot start: its command cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** `${NAME}` and `{name}`. */
const NAMES = /\$\{(\w+)\}|\{([A-Za-z_]\w*)\}/g;

/** The value of a variable of the host; undefined when there is no variable of this name. */
type VariableValue = (name: string) => string | undefined;

/**
 * Replaces `{name}` by a scalar of the block, of the configuration's root, or of other plugins, in this order; unknown
 * names stay. Values of other plugins take the form that the text asks for. `${NAME}` is replaced in the same pass, so
 * that braces in the value of a variable stay as they are.
 */
function filler(
  block: Readonly<Record<string, unknown>>,
  global: Readonly<Record<string, unknown>>,
  placeholders: PlaceholderValues,
) {
  const filled = (name: string, whole: string, before: string, after: string): string => {
    const own = [block, global].find(values => Object.hasOwn(values, name));
    const value = own === undefined ? placeholders.values[name] : own[name];
    if (value === undefined) placeholders.refuse(name);
    if (!['string', 'number', 'boolean'].includes(typeof value)) return whole;
    return own === undefined ? placedValue(String(value), before, after) : String(value);
  };
  return (text: string, variable: VariableValue = () => undefined): string =>
    text.replaceAll(NAMES, (whole, outer: string | undefined, inner: string | undefined, at: number) => {
      const known = outer === undefined ? undefined : variable(outer);
      if (known !== undefined) return known;
      const [dollar, name = ''] = inner === undefined ? ['$', outer] : ['', inner];
      if (/^\d/.test(name)) return whole;
      const before = text.slice(0, at) + dollar;
      return dollar + filled(name, whole.slice(dollar.length), before, text.slice(at + whole.length));
    });
}

/** The public variables of the host, those that the block asks for by name, and the block's own ones. */
function environmentOf(
  { block: { block }, env: own, withheld, user }: PlanInput,
  fill: (text: string, variable: VariableValue) => string,
): Record<string, string> {
  const env = publicEnvironment(own);
  const ownValue = (name: string): string | undefined => (Object.hasOwn(own, name) ? own[name] : undefined);
  // WORK_VARIABLE marks a host that another one started for some work. Services must not inherit it, because they would
  // be ended with that work.
  for (const name of [...withheld, WORK_VARIABLE]) delete env[name];
  for (const name of (block.env_passthrough ?? []) as string[]) {
    const value = ownValue(name);
    if (value !== undefined) env[name] = value;
  }
  if (user !== null) Object.assign(env, accountOf(user.uid));
  for (const [name, value] of Object.entries((block.env ?? {}) as Record<string, unknown>)) {
    if (value === null) delete env[name];
    else env[name] = fill(String(value), ownValue);
  }
  return env;
}

/** HOME, USER and LOGNAME of a user, from the account table. */
function accountOf(uid: number): Record<string, string> {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(entry => entry.split(':'))
    .find(fields => fields[2] === String(uid));
  const name = line?.[0] ?? String(uid);
  return { HOME: line?.[5] || '/tmp', USER: name, LOGNAME: name };
}
