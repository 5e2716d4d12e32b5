// Where a program keeps its data: the command says it, else the variables, else the facts of its plugin.
import path from 'node:path';
import type { DataPlace } from './contract.ts';

interface Launched {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `config_dir` of the block, in which the program works. */
  readonly directory: string;
}

/** Always an absolute path. */
export function dataOf({ argument, variable, otherwise }: DataPlace, { argv, env, directory }: Launched): string {
  const told = (argument && wordAfter(argument, argv)) || (variable && env[variable]);
  return path.resolve('/', directory, told || otherwise.replace('{config_dir}', () => directory));
}

function wordAfter(argument: string, argv: readonly string[]): string | undefined {
  const at = argv.lastIndexOf(argument);
  return at < 0 ? argv.find(word => word.startsWith(`${argument}=`))?.slice(argument.length + 1) : argv[at + 1];
}
