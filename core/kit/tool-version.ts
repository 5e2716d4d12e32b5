// Asks the tools of the machine for their versions, as the user who is going to use them.
import { type BuildUser, buildVariables } from './build-environment.ts';
import { runInGroup } from './group-command.ts';

const LIMIT_MS = 15_000;
const NUMBER = /\d+(?:\.\d+)*/;

export interface Asking {
  readonly user: BuildUser;
  readonly signal: AbortSignal;
  /** Directories that are searched before those of PATH. */
  readonly places?: readonly string[];
}

/** The lines that a tool prints; undefined where it is missing, or the user cannot run it. */
export async function toolLines(
  argv: readonly string[],
  { user, signal, places = [] }: Asking,
): Promise<readonly string[] | undefined> {
  const lines: string[] = [];
  const env = buildVariables();
  const PATH = [...places, env.PATH ?? ''].join(':');
  const onLines = (told: readonly string[]): void => void lines.push(...told);
  try {
    await runInGroup({ argv, env: { ...env, PATH, HOME: '/' }, user, signal, limitMs: LIMIT_MS, onLines });
    return lines;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The first number that a tool prints, with its dots. */
export async function toolVersion(argv: readonly string[], asking: Asking): Promise<string | undefined> {
  const lines = await toolLines(argv, asking);
  return lines?.map(line => NUMBER.exec(line)?.[0]).find(version => version !== undefined);
}

/** Whether a version is at least another; parts that are missing count as zero. */
export function isAtLeast(version: string, least: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, wanted] of least.split('.').map(Number).entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
