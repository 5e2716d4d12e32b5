#!/usr/bin/env node
// The entry point of the process: parses the arguments, runs one command, sets the exit code. Every failure is one line
// on stderr.
import { version } from '../host/host.ts';
import { errorText } from '../kit/error-text.ts';
import { check } from './check.ts';
import { type Command, type CommandLine, parseCommandLine, USAGE } from './command-line.ts';
import { createPlugin } from './create-plugin.ts';
import { graph } from './graph.ts';
import { health } from './health.ts';
import { listPlugins } from './plugins.ts';
import { onlyReading } from './read-only.ts';
import { start } from './start.ts';

const COMMANDS: Readonly<Record<Command, (line: CommandLine) => Promise<number>>> = {
  start,
  check: line => onlyReading(() => check(line)),
  plugins: line => onlyReading(() => listPlugins(line)),
  health,
  graph,
  'create-plugin': createPlugin,
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
