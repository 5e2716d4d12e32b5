// `stackwarden graph`: prints the dependencies of the running service's processes as Mermaid text.
import type { CommandLine } from './command-line.ts';
import { graphText } from './graph-text.ts';
import { addressOf, nothingAnswers } from './running-service.ts';

export async function graph({ configDir, processName, scope }: CommandLine): Promise<number> {
  const base = await addressOf(configDir);
  try {
    process.stdout.write(await graphText({ base, processName, scope, token: process.env.STACKWARDEN_TOKEN }));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw nothingAnswers(base, error);
  }
  return 0;
}
