// The WebAssembly of the product is what its text form compiles to.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { codeFileOf, codeModule, WAT_FILES } from '../../../core/build/wasm.ts';

t.test('each module is up to date; npm run wasm writes it', async t => {
  for (const file of WAT_FILES) t.equal(await readFile(codeFileOf(file), 'utf8'), await codeModule(file), file);
});
