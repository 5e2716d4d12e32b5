// Loaded with `--import` into a process that runs TypeScript from its sources, and by that into its threads: Node learns to load
// it. Of tests only, because tsx does not come along into threads and takes a fifth of a second of each process.
import { register } from 'node:module';

if (!('typescript' in process.features)) {
  process.features.typescript = 'transform';
  register('./typescript-hooks.mjs', import.meta.url);
}
