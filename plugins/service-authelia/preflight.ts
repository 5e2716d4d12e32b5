// Lets the program itself check its configuration before it is started, as its own user.
import { spawn } from 'node:child_process';
import { Problem } from '#core';
import type { LaunchPlan } from '../process/contract.ts';

const LIMIT_MS = 15_000;
const MAX_CHARACTERS = 8_000;

/** Throws a Problem 400 with what the program says. */
export function validate({ argv, env, user, cwd, processName }: LaunchPlan, file: string): Promise<void> {
  const [program = ''] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['config', 'validate', '--config', file], {
      ...user,
      env,
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    let words = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        words = (words + text).slice(0, MAX_CHARACTERS);
      });
    const refuse = (reason: string, cause?: Error): void =>
      reject(new Problem(400, `${processName} cannot start: ${file} is not accepted: ${reason}`, { cause }));
    child.on('error', error => refuse(`${program} cannot be run`, error));
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else refuse(signal === null ? reasonIn(words) : `${program} took longer than ${LIMIT_MS} ms to check it`);
    });
  });
}

function reasonIn(words: string): string {
  const lines = words
    .split('\n')
    .map(line => line.replace(/^[\s-]+/, '').trim())
    .filter(line => line !== '' && !/^configuration .*:$/i.test(line));
  return lines.slice(0, 3).join('; ') || 'without a reason';
}
