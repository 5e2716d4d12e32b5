// `stackwarden login`: exchanges a user name and a password for tokens, which later commands send.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command, LoginTokens } from '#core';
import { hostAnswer } from '#kit/host-answer';

const MAX_PASSWORD_BYTES = 4_096;
/** The exit status that shells give a process that SIGINT ended. */
const INTERRUPTED = 130;

const command: Command = {
  summary: 'log in, and store the login for later commands',
  arguments: [{ syntax: '<USER>', description: 'name of the user' }],
  options: [{ flags: '--password-stdin', description: 'read the password from the standard input' }],
  async run({ args: [username = ''], options, host, output, misuse }) {
    const url = await host.url();
    const isTyped = options.passwordStdin !== true;
    if (isTyped && !process.stdin.isTTY)
      throw misuse('a password is asked only on a terminal; elsewhere give it with --password-stdin');
    const password = isTyped ? await typedPassword(`Password of ${username} for ${url}: `) : await readPassword();
    const tokens = hostAnswer<LoginTokens>(await host.post('/auth/login', { username, password }), {
      access_token: '',
      refresh_token: '',
    });
    await host.keepLogin(tokens);
    output.line(`logged in to ${url} as ${username}`);
    return 0;
  },
};

export default command;

/** Reads a password from the terminal, which does not show it. */
async function typedPassword(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  terminal.once('SIGINT', () => process.exit(INTERRUPTED));
  // Asked only now that the terminal no longer shows what is typed.
  process.stderr.write(question);
  const closed = new Promise<never>((_resolve, reject) => {
    terminal.once('close', () => reject(new Error('no password was given')));
  });
  try {
    return await Promise.race([terminal.question(''), closed]);
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

async function readPassword(): Promise<string> {
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) {
    text += part;
    if (text.length > MAX_PASSWORD_BYTES) throw new Error('the standard input holds more than a password');
  }
  // Editors on Windows put a mark of the encoding before it, and end the line with two characters.
  return text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
}
