// Parses the command line into a command, its words and its options; one that cannot be understood becomes one line of
// error.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { CommanderError, Command as Grammar } from 'commander';
import type { Command, CommandOption, OptionValues } from '../contract/command.ts';
import { nearestWord } from '../kit/nearest-word.ts';
import { CommandSet, longFlag } from './command-set.ts';

/** Thrown when the command line cannot be understood; the process ends with exit code 2. */
export class UsageError extends Error {}

/** Options that stand before or after any command. */
export const COMMON_OPTIONS: readonly CommandOption[] = [
  {
    flags: '--config-dir <DIR>',
    description:
      'directory of configuration and state (default: $STACKWARDEN_CONFIG_DIR, else /config, else .stackwarden)',
  },
  {
    flags: '--url <URL>',
    description:
      'address of the running host (default: $STACKWARDEN_URL, else the host on the configuration directory)',
  },
  { flags: '--plugins <A,B>', description: 'start, check, plugins: load only these plugins and those that they need' },
  { flags: '--version', description: 'print the version' },
  { flags: '-h, --help', description: 'list the commands, or the arguments and options of the command' },
];

export interface CommandLine {
  readonly name: string;
  readonly command: Command;
  /** The words after the name of the command that are not options. */
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly configDir: string;
  /** Whether an option or a variable gives the directory; false for the default one. */
  readonly isNamed: boolean;
  /** The address of the running host; undefined when it has to be found by the configuration directory. */
  readonly url: string | undefined;
}

/** The values of the options that every command takes, and the words without them. */
export interface Place extends Pick<CommandLine, 'configDir' | 'isNamed' | 'url'> {
  readonly common: OptionValues;
  /** Words up to the first option of a command. */
  readonly operands: readonly string[];
  /** The first option of a command, and all words after it. */
  readonly others: readonly string[];
}

/** Throws a UsageError with a message of one line when the arguments cannot be understood. */
export async function parseCommandLine(args: readonly string[], env: NodeJS.ProcessEnv): Promise<CommandLine> {
  const { common, operands, others, configDir, isNamed, url } = placeOf(args, env);
  const set = new CommandSet(configDir);
  const given = await commandFirst(operands, others, set);
  const [name = 'start', ...words] =
    common.version === true ? ['version'] : common.help === true ? ['help', ...operands.slice(0, 1)] : given;
  const command = await set.find(name);
  if (command === undefined) throw new UsageError(await unknownCommand(name, set));
  const grammar = grammarOf(name, command);
  await understand(grammar, words, set);
  refuseSurplus(name, grammar.args, command);
  const { plugins } = common;
  if (plugins !== undefined && given[0] === name) await refuseUnread('--plugins', name, command, set);
  const options = { ...grammar.opts<OptionValues>(), ...(plugins === undefined ? {} : { plugins }) };
  return { name, command, args: grammar.args, options, configDir, isNamed, url };
}

/** The parser of a command's own arguments and options, without the options that every command takes. */
export function grammarOf(
  name: string,
  { summary, arguments: taken = [], options = [] }: Omit<Command, 'run'>,
): Grammar {
  const grammar = new Grammar(name)
    .description(summary)
    .summary(summary)
    .helpOption(false)
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  for (const { syntax, description, choices } of taken) {
    const argument = grammar.createArgument(syntax, description);
    const name = argument.name();
    if (choices !== undefined) argument.choices(choices).argParser(value => oneOf(name, value, choices));
    grammar.addArgument(argument);
  }
  for (const option of options) addOption(grammar, option);
  return grammar;
}

function addOption(grammar: Grammar, { flags, description, choices, range }: CommandOption): void {
  const option = grammar.createOption(flags, description);
  const name = longFlag({ flags });
  if (choices !== undefined) option.choices(choices).argParser(value => oneOf(`'${name}'`, value, choices));
  if (range !== undefined) option.argParser(value => numberWithin(name, value, range));
  grammar.addOption(option);
}

function oneOf(what: string, value: string, choices: readonly string[]): string {
  if (choices.includes(value)) return value;
  throw new UsageError(`${what} is ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`);
}

function numberWithin(name: string, value: string, [least, most]: readonly [number, number]): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isInteger(number) && number >= least && number <= most) return number;
  throw new UsageError(`'${name}' is a whole number from ${least} to ${most}`);
}

/** Throws a UsageError when an option that every command takes cannot be understood. */
export function placeOf(args: readonly string[], env: NodeJS.ProcessEnv): Place {
  const grammar = grammarOf('stackwarden', { summary: '', options: COMMON_OPTIONS });
  const end = args.indexOf('--');
  const [before, after] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end)];
  const { operands, unknown } = understood(
    () => grammar.parseOptions([...before]),
    'stackwarden help lists all options',
  );
  const common = grammar.opts<OptionValues>();
  const named = common.configDir ?? (env.STACKWARDEN_CONFIG_DIR || undefined);
  const configDir = path.resolve(String(named ?? defaultConfigDir()));
  const isNamed = named !== undefined;
  return { common, operands, others: [...unknown, ...after], configDir, isNamed, url: urlOf(common.url, env) };
}

/** Puts the name of the command first, because its options may stand before it. The default command is `start`. */
async function commandFirst(
  operands: readonly string[],
  others: readonly string[],
  set: CommandSet,
): Promise<readonly string[]> {
  if (operands.length > 0) return [...operands, ...others];
  const names = others.length === 0 ? [] : await set.names();
  const at = others.findIndex(word => names.includes(word));
  return at < 0 ? ['start', ...others] : [others[at] ?? '', ...others.toSpliced(at, 1)];
}

async function understand(grammar: Grammar, words: readonly string[], set: CommandSet): Promise<void> {
  const name = grammar.name();
  try {
    understood(() => grammar.parse([...words], { from: 'user' }), remedyOf(name));
  } catch (error) {
    const [, flag] = /^unknown option '(--[a-z-]+)/.exec((error as Error).message) ?? [];
    const owners = flag === undefined ? [] : await ownersOf(flag, set);
    throw owners.length === 0 ? error : belongsTo(owners, String(flag), name);
  }
}

/** For an option that may stand before any command, though only a few commands read it. */
async function refuseUnread(flag: string, name: string, command: Command, set: CommandSet): Promise<void> {
  if (!hasOption(command, flag)) throw belongsTo(await ownersOf(flag, set), flag, name);
}

function belongsTo(owners: readonly string[], flag: string, name: string): UsageError {
  return new UsageError(`'${flag}' belongs to ${owners.join(', ')}; ${remedyOf(name)}`);
}

function hasOption({ options = [] }: Command, flag: string): boolean {
  return options.some(option => longFlag(option) === flag);
}

/** Turns an error of the parser into one line with `remedy`, unless the parser itself suggests something. */
function understood<Result>(parse: () => Result, remedy: string): Result {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const fault = error.message.replace(/^error: /, '').replaceAll(/\s+/g, ' ');
    throw new UsageError(fault.includes('Did you mean') ? fault : `${fault}; ${remedy}`, { cause: error });
  }
}

function remedyOf(name: string): string {
  return name === 'help' ? 'stackwarden help lists the commands' : `stackwarden help ${name} tells what it takes`;
}

/** The commands that have the option, each in quotation marks. */
async function ownersOf(flag: string, set: CommandSet): Promise<readonly string[]> {
  const owners: string[] = [];
  for (const name of await set.names()) {
    const command = await set.find(name).catch(() => undefined);
    if (command !== undefined && hasOption(command, flag)) owners.push(`'${name}'`);
  }
  return owners;
}

function refuseSurplus(name: string, args: readonly string[], { arguments: taken = [] }: Command): void {
  const surplus = taken.at(-1)?.syntax.includes('...') ? undefined : args[taken.length];
  if (surplus !== undefined) throw new UsageError(`unexpected argument '${surplus}'; ${remedyOf(name)}`);
}

async function unknownCommand(name: string, set: CommandSet): Promise<string> {
  const names = await set.names();
  const [begun, ...others] = names.filter(known => known.startsWith(name));
  const meant = others.length === 0 && begun !== undefined ? begun : nearestWord(name, names);
  const hint = meant === undefined ? `there are ${names.join(', ')}` : `did you mean ${meant}?`;
  return `unknown command '${name}'; ${hint}`;
}

function urlOf(option: unknown, env: NodeJS.ProcessEnv): string | undefined {
  const given = String(option ?? env.STACKWARDEN_URL ?? '');
  if (given === '') return undefined;
  const text = given.endsWith('/') ? given.slice(0, -1) : given;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '')
    throw new UsageError(`'${given}' is no address of a host, such as http://127.0.0.1:8000`);
  return text;
}

function defaultConfigDir(): string {
  return existsSync('/config') ? '/config' : '.stackwarden';
}
