// Teaches Node to load TypeScript, in a process that was started with `--import` of this file and in its threads. Only
// tests use it: tsx does not work in threads, and takes a fifth of a second in each process.
import { register } from 'node:module';

if (!('typescript' in process.features)) {
  process.features.typescript = 'transform';
  register('./typescript-hooks.mjs', import.meta.url);
}
