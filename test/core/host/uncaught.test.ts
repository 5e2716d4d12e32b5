// Errors that nobody caught end their process with the exit code of an internal fault.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { TYPESCRIPT } from '../../support/typescript.ts';

const moduleUrl = new URL('../../../core/host/uncaught.ts', import.meta.url).href;
const root = fileURLToPath(new URL('../../..', import.meta.url));

async function run(script: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [TYPESCRIPT, '--input-type=module', '-e', script], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

t.test('a handler that fails ends the process with 70, and both errors are printed', async t => {
  const { code, stderr } = await run(`
    import { catchUncaught } from '${moduleUrl}';
    catchUncaught({ plugin() {}, ownerOf() {}, host() { throw new Error('the log is broken'); } });
    setTimeout(() => { throw new Error('the first fault'); });
  `);
  t.equal(code, 70);
  t.match(stderr, 'stackwarden: the first fault, and then the log is broken');
});

t.test('a failing handler ends the process with 70 when standard error is closed', async t => {
  const { code } = await run(`
    import { closeSync } from 'node:fs';
    import { catchUncaught } from '${moduleUrl}';
    catchUncaught({ plugin() {}, ownerOf() {}, host() { throw new Error('the log is broken'); } });
    setTimeout(() => { closeSync(2); throw new Error('the first fault'); });
  `);
  t.equal(code, 70);
});
