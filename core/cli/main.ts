#!/usr/bin/env node
// The entry point of the process: parses the arguments, runs one command, sets the exit code. Every failure is one line
// on stderr.
import { version } from '../host/version.ts';
import { errorText } from '../kit/error-text.ts';
import { type Command, type CommandLine, parseCommandLine, USAGE } from './command-line.ts';
import { onlyReading } from './read-only.ts';

/** Each command is loaded when it is run, because the host alone takes most of the time of a short one. */
const COMMANDS: Readonly<Record<Command, (line: CommandLine) => Promise<number>>> = {
  start: async line => (await import('./start.ts')).start(line),
  check: line => onlyReading(async () => (await import('./check.ts')).check(line)),
  plugins: line => onlyReading(async () => (await import('./plugins.ts')).listPlugins(line)),
  health: async line => (await import('./health.ts')).health(line),
  graph: async line => (await import('./graph.ts')).graph(line),
  'create-plugin': async line => (await import('./create-plugin.ts')).createPlugin(line),
  async help() {
    process.stdout.write(USAGE);
    return 0;
  },
  async version() {
    console.log(version);
    return 0;
  },
};

async function main(): Promise<number> {
  const line = parseCommandLine(process.argv.slice(2), process.env);
  return COMMANDS[line.command](line);
}

// The reader of the output may close it at any time; the log file has every line, and the service continues.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

main().then(
  code => process.exit(code),
  (error: unknown) => {
    const [line] = errorText(error).split('\n');
    console.error(`stackwarden: ${line}`);
    process.exit(1);
  },
);
