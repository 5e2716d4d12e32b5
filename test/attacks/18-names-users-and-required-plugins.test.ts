// Line 18: names, commands and users that no process can have are not saved, and required plugins cannot be left out
// over the API.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../support/host.ts';
import { kid } from '../support/kids.ts';

const refused: Record<string, Record<string, unknown>> = {
  'a name with a newline': { evil: { process_name: 'Kid\nINFO - all is well', command: ['true'] } },
  'a name with NUL': { evil: { process_name: 'Kid\0', command: ['true'] } },
  'a name with an escape': { evil: { process_name: 'Kid\x1b[2J', command: ['true'] } },
  'a name with a line separator': { evil: { process_name: 'Kid\u2028', command: ['true'] } },
  'a name of the host with a newline': { dumb: { api_service: { process_name: 'API\n' } } },
  'a command with NUL': { evil: { process_name: 'Evil', command: ['true', 'a\0b'] } },
  'a command as a text with NUL': { evil: { process_name: 'Evil', command: 'true \0' } },
  'a directory with NUL': { evil: { process_name: 'Evil', command: ['true'], config_dir: '/tmp\0/x' } },
  'a variable whose name holds =': { evil: { process_name: 'Evil', command: ['true'], env: { 'A=B': 'x' } } },
  'a variable with NUL': { evil: { process_name: 'Evil', command: ['true'], env: { A: 'x\0' } } },
  'a probe with NUL': { evil: { process_name: 'Evil', command: ['true'], liveness: { exec: ['true', 'a\0b'] } } },
  'a probe that is no program': { evil: { process_name: 'Evil', command: ['true'], liveness: { exec: [''] } } },
  'a file of variables with NUL': { evil: { process_name: 'Evil', command: ['true'], env_file: '/tmp\0/x' } },
  'a watched file with NUL': { evil: { process_name: 'Evil', command: ['true'], watch: ['/tmp\0/x'] } },
  'a wait with NUL': { evil: { process_name: 'Evil', command: ['true'], wait_for_dir: '/tmp\0/x' } },
  'puid 2^32': { puid: 2 ** 32 },
  'puid 2^32 - 1': { puid: 2 ** 32 - 1 },
  'a puid of root': { puid: 0 },
  'pgid 2^32': { pgid: 2 ** 32 },
  'pgid 2^53 - 1': { pgid: 2 ** 53 - 1 },
};

const PLUGINS = ['config', 'process', 'readiness', 'env-files', 'watch-files'];

t.test('a save is refused, and changes nothing', async t => {
  const app = await startHost({ plugins: PLUGINS, config: { kid: kid('Kid', ['calm']) } });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const before = await readFile(file, 'utf8');
  for (const [what, updates] of Object.entries(refused)) {
    const answer = await app.post('/config', { updates, persist: true });
    t.equal(answer.status, 400, `${what}: ${answer.text}`);
  }
  t.equal(await readFile(file, 'utf8'), before);
});

const losses: Record<string, Record<string, unknown>> = {
  'named in disabled': { disabled: ['process'] },
  'missing in enabled': { enabled: ['config'] },
  'no longer required': { required: ['config'] },
  'no longer required, and disabled': { required: [], disabled: ['process'] },
};

t.test('a required plugin that is left out over the API', async t => {
  const app = await startHost({ plugins: 'all', config: {} });
  t.teardown(() => app.stop());
  for (const [what, plugins] of Object.entries(losses)) {
    for (const persist of [true, false]) {
      const answer = await app.post('/config', { updates: { dumb: { plugins } }, persist });
      t.equal(answer.status, 409, `${what}: ${answer.text}`);
      t.match(answer.body.detail, /the plugin \w+ is required/);
    }
  }
  t.equal(app.host.plugins().find(({ name }) => name === 'process')?.state, 'ready');
  const others = { updates: { dumb: { plugins: { disabled: ['docs'] } } }, persist: false };
  t.equal((await app.post('/config', others)).status, 200, 'others may be');
});
