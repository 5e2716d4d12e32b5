// The argument with which tests start programs from their TypeScript sources.
import { fileURLToPath } from 'node:url';

/** An argument of Node with which a program runs from its TypeScript sources. */
export const TYPESCRIPT = `--import=${fileURLToPath(new URL('../runner/typescript.mjs', import.meta.url))}`;
