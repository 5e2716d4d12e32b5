// Files of /proc are read whole, however long they are.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { kernelText } from '../../../core/kit/kernel-text.ts';

t.test('a text longer than all before it is read whole', async t => {
  const child = spawn('/bin/sleep', ['1000'], { env: { LONG: 'x'.repeat(100_000), LAST: 'here' }, stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const file = `/proc/${child.pid}/environ`;
  const text = kernelText(file);
  t.equal(text, await readFile(file, 'latin1'));
  t.ok(text.includes('LAST=here'));
});
