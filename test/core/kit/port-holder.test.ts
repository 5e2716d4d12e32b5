// Who listens on a port is named by its program, also when Node has named the process after its main thread.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import t from 'tap';
import { findPortHolder } from '../../../core/kit/port-holder.ts';

for (const [title, program] of [
  ['MainThread', path.basename(process.execPath)],
  ['node-MainThread', path.basename(process.execPath)],
  ['radarr', 'radarr'],
] as const) {
  t.test(`the holder of a port is named by its program when its process is called ${title}`, async t => {
    const source = `process.title = '${title}';
      const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port));`;
    const child = spawn(process.execPath, ['--eval', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => child.kill());
    const [port] = await once(child.stdout, 'data');
    t.equal(await findPortHolder(Number(port)), `${program} (pid ${child.pid})`);
  });
}
