// Arguments of Node that run a host with options that the command line does not have, and where that host has its
// modules.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { TYPESCRIPT } from './typescript.ts';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(new URL('./host-program.mjs', import.meta.url));
const { STACKWARDEN_TEST_BUILD: buildDir } = process.env;

/** `options` become JSON. */
export function hostProgram(options: object): string[] {
  return [...(buildDir === undefined ? [TYPESCRIPT] : []), program, JSON.stringify(options)];
}

/** `source` is relative to the project, and ends with `.ts`. */
export function moduleOfHost(source: string): string {
  return buildDir === undefined ? path.join(rootDir, source) : path.join(buildDir, source.replace(/\.ts$/, '.js'));
}
