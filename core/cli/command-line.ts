// Parses the command line into a command and its options; anything that cannot be understood is one line of error.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

export const USAGE = `stackwarden: supervises the programs of a self-hosted media stack

  stackwarden [start] [options]   run in the foreground until SIGTERM or SIGINT
  stackwarden check [options]     validate the configuration and every plugin; exit 1 on a problem
  stackwarden plugins [options]   list every plugin and its state
  stackwarden health [options]    ask the running service; exit 0 when it is healthy
  stackwarden graph [PROCESS]     print what needs what in the running service, as Mermaid text
  stackwarden create-plugin NAME  write a plugin to begin with, and its test

  --config-dir DIR   configuration and state (default: $STACKWARDEN_CONFIG_DIR, else /config, else .stackwarden)
  --plugins A,B      load only these plugins
  --scope all        graph: documented integrations too, not only what holds a start up
  --example          start: write a small example stack where no configuration exists yet
  --into DIR         create-plugin: where its folder is made (default: plugins in the configuration directory)
  --pace SHARE       start: for tests, the product's own waits take this share of their time, for example 0.1
  --version          print the version
  --help             print this

  STACKWARDEN_TOKEN holds the access token for graph where people must log in.
`;

const COMMANDS = ['start', 'check', 'plugins', 'health', 'graph', 'create-plugin'] as const;
export type Command = (typeof COMMANDS)[number] | 'version' | 'help';

export interface CommandLine {
  readonly command: Command;
  readonly configDir: string;
  readonly plugins: readonly string[] | undefined;
  readonly example: boolean;
  /** Option of `graph`; undefined means everything that is enabled. */
  readonly processName: string | undefined;
  readonly scope: 'runtime' | 'all';
  /** Argument of `create-plugin`. */
  readonly pluginName: string | undefined;
  /** Option of `create-plugin`: the directory in which the plugin's folder is created. */
  readonly into: string;
  /** Value of `HostOptions.pace`; 1 unless a test sets another. */
  readonly pace: number;
}

/** Throws an Error with a message of one line when the arguments cannot be understood. */
export function parseCommandLine(args: readonly string[], env: NodeJS.ProcessEnv): CommandLine {
  const { values, positionals } = parse(args);
  const [command = 'start', ...rest] = positionals;
  if (!isCommand(command)) throw new Error(`unknown command '${command}'; there are ${COMMANDS.join(', ')}`);
  const [name, surplus] = command === 'graph' || command === 'create-plugin' ? rest : [undefined, ...rest];
  if (surplus !== undefined) throw new Error(`unexpected argument '${surplus}'`);
  if (values.example === true && command !== 'start') throw new Error("'--example' belongs to 'start'");
  const { scope = 'runtime' } = values;
  if (scope !== 'runtime' && scope !== 'all') throw new Error("'--scope' is runtime or all");
  if (values.scope !== undefined && command !== 'graph') throw new Error("'--scope' belongs to 'graph'");
  if (values.into !== undefined && command !== 'create-plugin') throw new Error("'--into' belongs to 'create-plugin'");
  const pace = Number(values.pace ?? 1);
  if (!(pace > 0)) throw new Error("'--pace' is a number above 0");
  if (values.pace !== undefined && command !== 'start') throw new Error("'--pace' belongs to 'start'");
  const plugins = values.plugins?.split(',').map(name => name.trim());
  if (plugins?.includes('')) throw new Error("'--plugins' needs names separated by commas, for example process,config");
  const configDir = path.resolve(values['config-dir'] ?? defaultConfigDir(env));
  return {
    command: values.help === true ? 'help' : values.version === true ? 'version' : command,
    configDir,
    plugins,
    example: values.example ?? false,
    processName: command === 'graph' ? name : undefined,
    scope,
    pluginName: command === 'create-plugin' ? name : undefined,
    into: path.resolve(values.into ?? path.join(configDir, 'plugins')),
    pace,
  };
}

function isCommand(word: string): word is (typeof COMMANDS)[number] {
  return (COMMANDS as readonly string[]).includes(word);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'config-dir': { type: 'string' },
        plugins: { type: 'string' },
        example: { type: 'boolean' },
        scope: { type: 'string' },
        into: { type: 'string' },
        pace: { type: 'string' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const [sentence = 'bad arguments'] = (error as Error).message.split(/[.\n]/);
    throw new Error(sentence, { cause: error });
  }
}

function defaultConfigDir(env: NodeJS.ProcessEnv): string {
  return env.STACKWARDEN_CONFIG_DIR || (existsSync('/config') ? '/config' : '.stackwarden');
}
