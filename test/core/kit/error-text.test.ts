// Texts of system errors: in words, with the place named once.
import { readFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import t from 'tap';
import { errorText, reasonText } from '../../../core/kit/error-text.ts';
import { namedReason, unnamedReason } from '../../../core/kit/named-reason.ts';
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
