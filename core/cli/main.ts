#!/usr/bin/env node
// The entry point of the process: parses the arguments, runs one command, sets the exit code. Every failure is one line
// on stderr.
import { errorText } from '../kit/error-text.ts';
import { exitProcess } from '../kit/exit-process.ts';
import { parseCommandLine, UsageError } from './command-line.ts';
import { createHostClient, Unreachable } from './host-client.ts';
import { createOutput, OutputClosed } from './output.ts';
import { addressOf } from './running-service.ts';

const output = createOutput(process.env);
const FAILED = 1;
const MISUSED = 2;
const UNREACHABLE = 3;
const MAX_CODE = 255;

async function main(): Promise<number> {
  const { command, args, options, configDir, isNamed, url } = await parseCommandLine(
    process.argv.slice(2),
    process.env,
  );
  const code = await command.run({
    args,
    options,
    configDir,
    host: createHostClient(async () => url ?? addressOf(configDir, { isNamed }), process.env),
    output,
    misuse: message => new UsageError(message),
  });
  await output.written();
  // A command in JavaScript may return anything; undefined counts as success.
  if (code !== undefined && !isExitCode(code)) throw new Error(`the command gives ${String(code)} as its exit code`);
  return code;
}

function isExitCode(code: unknown): boolean {
  return Number.isInteger(code) && Number(code) >= 0 && Number(code) <= MAX_CODE;
}

main().then(
  code => exitProcess(code),
  async (error: unknown) => {
    if (error instanceof OutputClosed) exitProcess(0);
    // What was told before the failure; that it cannot be written is no news then.
    await output.written().catch(() => undefined);
    output.note(`stackwarden: ${errorText(error).split('\n')[0]}`);
    exitProcess(error instanceof UsageError ? MISUSED : error instanceof Unreachable ? UNREACHABLE : FAILED);
  },
);
