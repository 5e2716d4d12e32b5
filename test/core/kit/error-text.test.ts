// Texts of system errors: in words, with the place named once.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { errorText, reasonText } from '../../../core/kit/error-text.ts';
import { namedReason, unnamedReason } from '../../../core/kit/named-reason.ts';
import { testDir } from '../../support/directory.ts';
import { freePort } from '../../support/stackwarden.ts';

t.test('errors of files and connections are described in words', async t => {
  const absent: unknown = await readFile('/nowhere/at/all').catch(error => error);
  t.equal(errorText(absent), '/nowhere/at/all: no such file or directory');
  t.equal(reasonText(absent), 'no such file or directory');
  // From a thread, only the message arrives.
  t.equal(errorText(new Error((absent as Error).message)), '/nowhere/at/all: no such file or directory');
  const port = await freePort();
  const refused = await new Promise(resolve => createConnection({ host: '127.0.0.1', port }).once('error', resolve));
  t.equal(errorText(refused), `127.0.0.1:${port}: connection refused`);
});

/** The message of what a script fails with under a limit that the host itself does not have. */
async function failureWithin(limit: readonly string[], script: string): Promise<Error> {
  const print = `try { ${script} } catch (error) { console.log(error.message) }`;
  const [program = '', ...words] = [...limit, process.execPath, '-e', `const fs = require('node:fs'); ${print}`];
  const { stdout } = await promisify(execFile)(program, words, { env: {} });
  return new Error(stdout.trim());
}

t.test('a limit of file sizes is named', async t => {
  const file = path.join(testDir(t, {}), 'log');
  const limit = ['sh', '-c', 'ulimit -f 1; exec "$0" "$@"'];
  const script = `const fd = fs.openSync('${file}', 'w'); for (;;) fs.writeSync(fd, Buffer.alloc(4_096))`;
  t.equal(
    errorText(await failureWithin(limit, script)),
    'file too large, for the limit of file sizes (ulimit -f) or for the file system',
  );
});

t.test('a missing right to give files away is named', { skip: process.getuid?.() !== 0 }, async t => {
  const file = path.join(testDir(t, { log: '' }), 'log');
  const limit = ['setpriv', '--bounding-set=-chown', '--inh-caps=-chown'];
  const told = 'operation not permitted, as without the capability CAP_CHOWN';
  const script = `fs.chownSync('${file}', 65_534, 65_534)`;
  t.equal(errorText(await failureWithin(limit, script)), `${file}: ${told}`);
  const open = `fs.fchownSync(fs.openSync('${file}'), 65_534, 65_534)`;
  t.equal(reasonText(await failureWithin(limit, open)), told);
});

t.test('other errors keep their text', async t => {
  t.equal(errorText(new Error('it is late, after all')), 'it is late, after all');
  t.equal(errorText(Object.assign(new Error('Cannot listen'), { code: 'EADDRINUSE', errno: -98 })), 'Cannot listen');
  t.equal(errorText('text'), 'text');
  t.equal(errorText(undefined), 'undefined');
});

t.test('the name of a process is put before a reason only when it is missing', async t => {
  t.equal(namedReason('Web', 'Web failed to stay running'), 'Web failed to stay running');
  t.equal(namedReason('Web', 'not ready in time'), 'Web: not ready in time');
  t.equal(unnamedReason('Web', 'Web failed to stay running'), 'it failed to stay running');
  t.equal(unnamedReason('Web', 'Web: not ready in time'), 'not ready in time');
  t.equal(unnamedReason('Web', 'Webster is gone'), 'Webster is gone');
});
