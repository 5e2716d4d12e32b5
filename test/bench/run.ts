// Runs all benchmarks or the named ones on a new build, each in a process of its own. Arguments from the first option
// on are passed to them: `soak --minutes 30`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('.', import.meta.url));
const buildFile = fileURLToPath(new URL('../../core/build/trim.ts', import.meta.url));

async function runScript(file: string, args: readonly string[] = []): Promise<boolean> {
  const child = spawn(process.execPath, ['--import=tsx', file, ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code === 0;
}

const subjects = (await readdir(directory))
  .filter(file => file.endsWith('.ts') && file !== 'run.ts')
  .map(file => path.basename(file, '.ts'));
const given = process.argv.slice(2);
const firstOption = given.findIndex(argument => argument.startsWith('--'));
const wanted = firstOption === -1 ? given : given.slice(0, firstOption);
const options = firstOption === -1 ? [] : given.slice(firstOption);
const unknown = wanted.filter(name => !subjects.includes(name));
if (unknown.length > 0) {
  console.error(`there is no benchmark '${unknown.join("', '")}'; there are ${subjects.join(', ')}`);
  process.exit(1);
}

if (!(await runScript(buildFile))) process.exit(1);
for (const subject of subjects.filter(name => wanted.length === 0 || wanted.includes(name))) {
  if (!(await runScript(path.join(directory, `${subject}.ts`), options))) process.exitCode = 1;
}
