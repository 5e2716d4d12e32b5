// Runs code in a process of its own that uses up its descriptors, as a leak in the host does.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TYPESCRIPT } from './typescript.ts';

const run = promisify(execFile);
const ROOT = new URL('../../', import.meta.url).href;

/**
 * What `code`, the body of an async function, returns. In it, `load` imports a module of the product by its path below
 * the root, `useUp(left)` opens descriptors until only so many are left, and `release()` closes these.
 */
export async function usingUp<Value>(code: string): Promise<Value> {
  const script = `
    import { closeSync, openSync } from 'node:fs'
    const held = []
    const release = (from = 0) => { for (const descriptor of held.splice(from)) closeSync(descriptor) }
    const useUp = left => {
      try { for (;;) held.push(openSync('/dev/null', 'r')) } catch {}
      release(held.length - left)
    }
    const load = file => import(${JSON.stringify(ROOT)} + file)
    const value = await (async () => { ${code} })()
    process.stdout.write(JSON.stringify(value), () => process.exit())`;
  const node = [process.execPath, TYPESCRIPT, '--input-type=module', '-e', script];
  const { stdout } = await run('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', ...node], { timeout: 60_000 });
  return JSON.parse(stdout);
}
