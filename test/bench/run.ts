// Runs the benchmarks, each in a process of its own: all of them, or those that are named.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const subjects = (await readdir(directory)).filter(file => file !== 'run.ts').map(file => path.basename(file, '.ts'));

for (const subject of subjects.filter(name => wanted.length === 0 || wanted.includes(name))) {
  const child = spawn(process.execPath, ['--import=tsx', path.join(directory, `${subject}.ts`)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
