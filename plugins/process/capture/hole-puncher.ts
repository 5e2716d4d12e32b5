// Frees the disk space of spools that were read, by fallocate(1), because Node cannot do it. A long-lived shell starts
// that program: each child of the host itself would cost a copy of the host's page tables.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { endedOrLate } from '#kit/deadline';
import { hasPipes } from '#kit/descriptors';
import { helperEnvironment } from '#kit/helper-environment';

const DEADLINE_MS = 30_000;
const IDLE_MS = 10_000;
const END_LIMIT_MS = 1_000;

/** Reads lines `<bytes> <name>`, and answers each with a line: an empty one, or what failed. */
const SCRIPT = `
while read -r bytes name; do
  if said=$(fallocate --punch-hole --offset 0 --length "$bytes" -- "$name" 2>&1); then echo
  else printf '%s' "\${said:-fallocate failed}" | tr '\\n' ' '; echo
  fi
done
`;

/** What fallocate says where it cannot free a part of any file, and the shell where there is no such program. */
const IMPOSSIBLE = /unsupported|not supported|not implemented|not found|(?:unrecognized|unknown|invalid) option/i;

/** No part of any file can be freed here. */
export class PunchImpossible extends Error {}

type Shell = ChildProcessByStdio<Writable, Readable, null>;

export class HolePuncher {
  readonly #directory: string;
  readonly #asked: ((failure: string) => void)[] = [];
  #shell: Shell | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Resolves when the latest shell has ended. */
  #ended: Promise<void> = Promise.resolve();

  /** File names in `directory` must have no blanks. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Frees the blocks of the first `bytes` of a file, which keeps its size. Throws an Error with what fallocate said: a
   * PunchImpossible when it would fail for any file.
   */
  punch(name: string, bytes: number): Promise<void> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      this.#shell ??= this.#start();
      const { stdin } = this.#shell;
      const late = setTimeout(() => this.#end(`fallocate did not end within ${DEADLINE_MS} ms`), DEADLINE_MS);
      this.#asked.push(failure => {
        clearTimeout(late);
        if (failure === '') resolve();
        else reject(IMPOSSIBLE.test(failure.replaceAll(name, '')) ? new PunchImpossible(failure) : new Error(failure));
      });
      stdin.write(`${bytes} ${name}\n`);
    });
  }

  /** Resolves when the shell is gone: it would stay a zombie if its thread ended before. */
  async close(): Promise<void> {
    this.#end('it was ended');
    await endedOrLate(this.#ended, END_LIMIT_MS);
  }

  #start(): Shell {
    const shell: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT], {
      cwd: this.#directory,
      // What the programs say is read, so they must not translate it.
      env: { ...helperEnvironment(), LC_ALL: 'C' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const gone = (): void => {
      if (this.#shell === shell) this.#end('the shell that starts fallocate ended');
    };
    shell.on('error', gone).on('exit', gone);
    this.#ended = new Promise(resolve => shell.once('error', () => resolve()).once('exit', () => resolve()));
    if (!hasPipes(shell)) throw new Error('there are no descriptors for a shell that starts fallocate');
    shell.stdin.on('error', gone);
    createInterface({ input: shell.stdout }).on('line', failure => {
      this.#asked.shift()?.(failure);
      if (this.#asked.length === 0) this.#idle = setTimeout(() => this.#end('it was idle'), IDLE_MS);
    });
    return shell;
  }

  #end(reason: string): void {
    clearTimeout(this.#idle);
    this.#shell?.kill('SIGKILL');
    this.#shell?.unref();
    this.#shell = undefined;
    for (const answer of this.#asked.splice(0)) answer(reason);
  }
}
