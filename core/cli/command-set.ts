// All commands: those of the core, and each file `commands/NAME.ts` in the folder of a plugin. To answer quickly, only
// the wanted command is loaded, and the configuration is read only for a name that the usual directories do not have.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FILE_NAMES } from '../config/file-names.ts';
import type { Command, CommandArgument, CommandCall, CommandOption } from '../contract/command.ts';
import { membersOf, refuseMisspelt } from '../kit/checked-argument.ts';
import { CORE_COMMANDS } from './core-commands.ts';

const productPlugins = fileURLToPath(new URL('../../plugins', import.meta.url));
/** A build prefers JavaScript, because older releases of Node cannot run TypeScript. */
const EXTENSIONS = import.meta.url.endsWith('.ts') ? ['.ts', '.js'] : ['.js', '.ts'];
const NAME = /^[a-z][a-z0-9-]*$/;
const COMMAND_MEMBERS = membersOf<Command>({ summary: true, arguments: true, options: true, run: true });
const ARGUMENT_MEMBERS = membersOf<CommandArgument>({ syntax: true, description: true, choices: true, offer: true });
const OPTION_MEMBERS = membersOf<CommandOption>({ flags: true, description: true, choices: true, range: true });

export class CommandSet {
  readonly #configDir: string;
  /** The plugin directories of the product and of the configuration directory. */
  readonly #directories: readonly string[];
  /** `dumb.plugins.dirs`; undefined until it is needed. */
  #configured: Promise<readonly string[]> | undefined;

  constructor(configDir: string) {
    this.#configDir = configDir;
    this.#directories = [productPlugins, path.join(configDir, 'plugins')];
  }

  /** Rejects with an Error when the file of a plugin is no command or may not be loaded. */
  async find(name: string): Promise<Command | undefined> {
    const own = Object.hasOwn(CORE_COMMANDS, name) ? CORE_COMMANDS[name] : undefined;
    const ofPlugin = await this.#ofPlugins(name);
    return own === undefined || ofPlugin === undefined ? (own ?? ofPlugin) : either(own, ofPlugin);
  }

  /** The names of all commands for users, sorted. */
  async names(): Promise<string[]> {
    const names = new Set(Object.keys(CORE_COMMANDS).filter(name => NAME.test(name)));
    for (const folder of [...this.#directories, ...(await this.#configuredDirectories())].flatMap(foldersIn)) {
      for (const file of entriesOf(path.join(folder, 'commands'))) {
        const { name, ext } = path.parse(file);
        if (NAME.test(name) && EXTENSIONS.includes(ext)) names.add(name);
      }
    }
    return [...names].sort();
  }

  async #ofPlugins(name: string): Promise<Command | undefined> {
    if (!NAME.test(name)) return undefined;
    const found = commandIn(this.#directories, name);
    if (found !== undefined || Object.hasOwn(CORE_COMMANDS, name)) return found;
    return commandIn(await this.#configuredDirectories(), name);
  }

  #configuredDirectories(): Promise<readonly string[]> {
    if (!mayNameDirectories(this.#configDir)) return Promise.resolve([]);
    this.#configured ??= import('./configured-settings.ts')
      .then(({ configuredSettings }) => configuredSettings(this.#configDir))
      .then(({ plugins }) => plugins.dirs);
    return this.#configured;
  }
}

/** Most configurations name no directories, and reading one takes longer than all else that a short command does. */
function mayNameDirectories(configDir: string): boolean {
  if (process.env.DUMB_PLUGINS_DIRS !== undefined) return true;
  const mayName = (file: string): boolean =>
    statSync(file, { throwIfNoEntry: false })?.isFile() === true && readFileSync(file, 'utf8').includes('dirs');
  return FILE_NAMES.some(name => ifReadable(() => mayName(path.join(configDir, name)), false));
}

/** Paths are joined by hand, because every command looks into every folder. */
function commandIn(directories: readonly string[], name: string): Promise<Command> | undefined {
  for (const folder of directories.flatMap(foldersIn)) {
    for (const extension of EXTENSIONS) {
      const file = `${folder}/commands/${name}${extension}`;
      if (existsSync(file)) return load(file, folder);
    }
  }
  return undefined;
}

async function load(file: string, folder: string): Promise<Command> {
  if (path.dirname(folder) !== productPlugins) {
    const { refusalOfFolder } = await import('../host/plugin-trust.ts');
    const refusal = await refusalOfFolder(folder);
    if (refusal !== null) throw new Error(refusal);
    if (file.endsWith('.ts') && !(await import('../host/discover.ts')).RUNS_TYPESCRIPT)
      throw new Error(
        `Node ${process.versions.node} does not run ${file}; compile it to JavaScript (npx tsc), or take Node 22.18 or later`,
      );
  }
  const { default: command } = (await import(pathToFileURL(file).href)) as { default?: Partial<Command> };
  if (typeof command?.summary !== 'string' || typeof command.run !== 'function')
    throw new Error(`${file} has no default export with 'summary' and 'run'`);
  refuseMisspelt(Object.keys(command), COMMAND_MEMBERS, file);
  if (!isListWith('syntax', command.arguments))
    throw new Error(`the arguments of ${file} are no list of objects with 'syntax'`);
  if (!isListWith('flags', command.options))
    throw new Error(`the options of ${file} are no list of objects with 'flags'`);
  for (const argument of command.arguments ?? [])
    refuseMisspelt(Object.keys(argument), ARGUMENT_MEMBERS, `${argument.syntax} of ${file}`);
  for (const option of command.options ?? [])
    refuseMisspelt(Object.keys(option), OPTION_MEMBERS, `${option.flags} of ${file}`);
  return command as Command;
}

function isListWith(member: string, list: unknown): boolean {
  return list === undefined || (Array.isArray(list) && list.every(entry => typeof entry?.[member] === 'string'));
}

/** Joins two commands of one name: the core's runs unless a word, or an option of the plugin's command, is given. */
function either(own: Command, ofPlugin: Command): Command {
  const isGiven = ({ options }: CommandCall, { flags }: CommandOption): boolean =>
    options[optionName(flags)] !== undefined;
  return {
    summary: `${own.summary}; with names or --all: ${ofPlugin.summary}`,
    arguments: ofPlugin.arguments ?? [],
    options: [...(own.options ?? []), ...(ofPlugin.options ?? [])],
    async run(call) {
      const meant = call.args.length > 0 || ofPlugin.options?.some(option => isGiven(call, option));
      if (!meant) return own.run(call);
      const surplus = own.options?.find(option => isGiven(call, option));
      if (surplus !== undefined) throw call.misuse(`'${longFlag(surplus)}' is for the host, not for a service`);
      return ofPlugin.run(call);
    },
  };
}

/** `--tail-bytes` of `-t, --tail-bytes <COUNT>`. */
export function longFlag({ flags }: Pick<CommandOption, 'flags'>): string {
  return /--[a-z-]+/.exec(flags)?.[0] ?? flags;
}

/** `tailBytes` of `-t, --tail-bytes <COUNT>`. */
function optionName(flags: string): string {
  return longFlag({ flags })
    .slice(2)
    .replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function foldersIn(directory: string): string[] {
  return entriesOf(directory).map(name => `${directory}/${name}`);
}

function entriesOf(directory: string): string[] {
  return existsSync(directory) ? ifReadable(() => readdirSync(directory), []) : [];
}

/** Reads a place, or returns `otherwise` when this user cannot read it, so that it breaks no other command. */
function ifReadable<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
