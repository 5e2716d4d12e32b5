// The commands of the core. The code of each is loaded only when it runs, because loading the host would take most of
// the time of a short command.
import path from 'node:path';
import type { Command, CommandCall, CommandOption } from '../contract/command.ts';
import { stopOnSignals } from './stop-signals.ts';

const PLUGINS: CommandOption = { flags: '--plugins <A,B>', description: 'load only these plugins' };

export const CORE_COMMANDS: Readonly<Record<string, Command>> = {
  start: {
    summary: 'run the host in the foreground until SIGTERM or SIGINT',
    options: [
      PLUGINS,
      { flags: '--example', description: 'write a small example stack where no configuration exists yet' },
      {
        flags: '--pace <SHARE>',
        description: "for tests: the product's own waits take this share of their time, for example 0.1",
      },
    ],
    async run(call) {
      const { example = false, pace = 1 } = call.options;
      if (!(Number(pace) > 0)) throw call.misuse("'--pace' is a number above 0");
      const onCreated = stopOnSignals();
      const { start } = await import('./start.ts');
      const { configDir } = call;
      return start({ configDir, plugins: pluginsOf(call), example: example === true, pace: Number(pace), onCreated });
    },
  },
  check: {
    summary: 'validate the configuration and every plugin; exit 1 on a problem',
    options: [PLUGINS],
    async run(call) {
      const { configDir, output } = call;
      const look = { configDir, output, plugins: pluginsOf(call) };
      const { onlyReading } = await import('./read-only.ts');
      return onlyReading(async () => (await import('./check.ts')).check(look));
    },
  },
  plugins: {
    summary: 'list every plugin and its state',
    options: [PLUGINS],
    async run(call) {
      const { configDir, output } = call;
      const look = { configDir, output, plugins: pluginsOf(call) };
      const { onlyReading } = await import('./read-only.ts');
      return onlyReading(async () => (await import('./plugins.ts')).listPlugins(look));
    },
  },
  health: {
    summary: 'ask the running service; exit 0 when it is healthy',
    run: async call => (await import('./health.ts')).health(call),
  },
  'create-plugin': {
    summary: 'write a plugin to begin with, and its test',
    arguments: [{ syntax: '[NAME]', description: 'name of the plugin and its folder' }],
    options: [
      {
        flags: '--into <DIR>',
        description: 'where its folder is made (default: plugins in the configuration directory)',
      },
    ],
    async run({ args: [name], options, configDir, output, misuse }) {
      if (name === undefined) throw misuse('create-plugin needs a name, for example create-plugin greeter');
      const { createPlugin } = await import('./create-plugin.ts');
      const folder = await createPlugin(name, path.resolve(String(options.into ?? path.join(configDir, 'plugins'))));
      output.line(`${folder} was made; a host that runs on this configuration directory loads it at once`);
      return 0;
    },
  },
  help: {
    summary: 'tell what there is, or what a command takes',
    arguments: [{ syntax: '[COMMAND]', description: 'name of a command' }],
    run: async call => (await import('./help.ts')).help(call),
  },
  version: {
    summary: 'print the version',
    async run({ output }) {
      output.line((await import('../host/version.ts')).version);
      return 0;
    },
  },
  completion: {
    summary: 'print the script that lets a shell complete words',
    arguments: [
      {
        syntax: '<SHELL>',
        description: 'for example: source <(stackwarden completion bash)',
        choices: ['bash', 'zsh', 'fish'],
      },
    ],
    run: async call => (await import('./completion.ts')).completion(call),
  },
  __complete: {
    summary: 'for the scripts of completion: print what the last word may become',
    arguments: [{ syntax: '[WORD...]', description: 'what was typed' }],
    run: async call => (await import('./complete.ts')).complete(call),
  },
};

function pluginsOf({ options, misuse }: CommandCall): readonly string[] | undefined {
  if (options.plugins === undefined) return undefined;
  const names = String(options.plugins)
    .split(',')
    .map(name => name.trim());
  if (names.includes('')) throw misuse("'--plugins' needs names separated by commas, for example process,config");
  return names;
}
