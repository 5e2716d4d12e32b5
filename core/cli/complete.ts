// `stackwarden __complete -- WORDS`: for the scripts of shells, prints what the last word may become. It never fails: a
// shell has no place for an error.
import type { Command, CommandArgument, CommandCall, CommandOption } from '../contract/command.ts';
import { withDeadline } from '../kit/deadline.ts';
import { COMMON_OPTIONS, placeOf } from './command-line.ts';
import { CommandSet, longFlag } from './command-set.ts';
import { createHostClient } from './host-client.ts';
import { addressOf } from './running-service.ts';

/** A user waits at the prompt meanwhile. */
const LIMIT_MS = 3_000;

export async function complete({ args, output }: CommandCall): Promise<number> {
  const typed = args.at(-1) ?? '';
  const words = await withDeadline(() => wordsFor(args.slice(0, -1), typed), LIMIT_MS, 'completing').catch(() => []);
  for (const word of words) if (word.startsWith(typed)) output.line(word);
  return 0;
}

async function wordsFor(before: readonly string[], typed: string): Promise<readonly string[]> {
  const { operands, others, configDir, isNamed, url } = placeOf(before, process.env);
  const set = new CommandSet(configDir);
  const [name, ...words] = [...operands, ...others];
  if (name === undefined) return typed.startsWith('-') ? COMMON_OPTIONS.map(longFlag) : set.names();
  const command = await set.find(name);
  if (command === undefined) return [];
  const option = optionBefore(words.length, words, command);
  if (option !== undefined) return option.choices ?? [];
  if (typed.startsWith('-')) return optionsOf(command).map(longFlag);
  const given = words.filter(
    (word, index) => !word.startsWith('-') && optionBefore(index, words, command) === undefined,
  );
  const argument = argumentAt(given.length, command);
  if (argument === undefined) return [];
  const host = createHostClient(async () => url ?? addressOf(configDir, { isNamed }), process.env);
  const offered = argument.choices ?? (await argument.offer?.(host)) ?? [];
  return offered.filter(word => !given.includes(word));
}

/** Not every command reads the plugins, which it has among its own options then. */
function optionsOf({ options = [] }: Command): readonly CommandOption[] {
  return [...options, ...COMMON_OPTIONS.filter(common => longFlag(common) !== '--plugins')];
}

/** The option whose value stands at this place; undefined when the place belongs to none. */
function optionBefore(index: number, words: readonly string[], { options = [] }: Command): CommandOption | undefined {
  const flag = words[index - 1];
  return options.find(({ flags }) => flags.includes('<') && flags.split(/[ ,]+/).includes(flag ?? ''));
}

function argumentAt(index: number, { arguments: taken = [] }: Command): CommandArgument | undefined {
  const last = taken.at(-1);
  return taken[index] ?? (last?.syntax.includes('...') ? last : undefined);
}
