// The commands of the core. The code of each is loaded only when it runs, because loading the host would take most of
// the time of a short command.
import path from 'node:path';
import type { Command, CommandCall, CommandOption } from '../contract/command.ts';
import { stopOnSignals } from './stop-signals.ts';

const PLUGINS: CommandOption = {
  flags: '--plugins <A,B>',
  description: 'load only these plugins and those that they need',
};

export const CORE_COMMANDS: Readonly<Record<string, Command>> = {
  start: {
    summary: 'run the host in the foreground until SIGTERM or SIGINT',
    options: [
      PLUGINS,
      { flags: '--example', description: 'write a small example stack if there is no configuration yet' },
      {
        flags: '--pace <SHARE>',
        description: 'for tests: a factor for the waits of the host itself, for example 0.1',
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
    summary: 'ask the running host for its health; exit 0 when it is healthy',
    run: async call => (await import('./health.ts')).health(call),
  },
  'create-plugin': {
    summary: 'write a small plugin to start from, and its test',
    arguments: [{ syntax: '[NAME]', description: 'name of the plugin and its folder' }],
    options: [
      {
        flags: '--into <DIR>',
        description: 'directory for the new folder (default: plugins in the configuration directory)',
      },
    ],
    async run({ args: [name], options, configDir, output, misuse }) {
      if (name === undefined) throw misuse('create-plugin needs a name, for example create-plugin greeter');
      const { createPlugin } = await import('./create-plugin.ts');
      const usual = path.resolve(configDir, 'plugins');
      const into = path.resolve(String(options.into ?? usual));
      const folder = await createPlugin(name, into);
      const next =
        into === usual
          ? 'a host that runs on this configuration directory loads it at once'
          : `it is loaded once it lies in ${usual}, or dumb.plugins.dirs names ${into}`;
      output.line(`${folder} was made; ${next}`);
      return 0;
    },
  },
  help: {
    summary: 'list the commands, or the arguments and options of one',
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
    summary: 'print a script for completion in a shell',
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
    summary: 'for the scripts of completion: print the completions of the last word',
    arguments: [{ syntax: '[WORD...]', description: 'the words typed so far' }],
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
