// Commands whose address is that of another JSON service say so in a sentence, whatever the service answers, and keep
// no login for it.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { runCommand } from '../../support/command.ts';
import { testDir } from '../../support/directory.ts';
import { spawnStackwarden } from '../../support/stackwarden.ts';

const COMMANDS = [
  ['status'],
  ['status', '--json'],
  ['start', 'Kid'],
  ['stop', '--all'],
  ['restart', '--group', 'kids'],
  ['top'],
  ['logs'],
  ['logs', 'Kid'],
  ['attach', 'Kid'],
  ['config', 'get'],
  ['config', 'get', 'dumb.log_level'],
  ['config', 'set', 'dumb.log_level', 'DEBUG'],
  ['graph'],
  ['graph', 'Kid'],
  ['events'],
  ['reload'],
];
const ANSWERS = ['{"hello":"world"}', 'null', '[]', '"text"', '{"status":"ok","processes":[{}],"nodes":5,"edges":[]}'];

t.test('no command takes another service for a host', async t => {
  let answer = '';
  const server = createServer((_request, response) => response.end(answer));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const configDir = testDir(t, {});
  const place = { configDir, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  for (answer of ANSWERS) {
    const results = await Promise.all(COMMANDS.map(args => runCommand(place, ...args)));
    for (const [index, result] of results.entries())
      t.same(
        result,
        { code: 1, stdout: '', stderr: 'stackwarden: what answers is no Stackwarden; look at the address\n' },
        `${COMMANDS[index]?.join(' ')}: ${answer}`,
      );
    const health = await runCommand(place, 'health');
    t.equal(health.stdout, 'what answers is no Stackwarden (HTTP 200); look at the address\n', answer);
    t.equal(health.code, 1);

    const home = `${configDir}/home`;
    const login = spawnStackwarden(configDir, {
      args: ['--url', place.base, 'login', 'joe', '--password-stdin'],
      within: ['sh', '-c', 'echo secret | "$@"', 'sh'],
      env: { STACKWARDEN_TOKEN: '', XDG_CONFIG_HOME: home },
    });
    t.same(await login.exited, { code: 1, signal: null });
    t.equal(login.stderr(), 'stackwarden: what answers is no Stackwarden; look at the address\n');
    t.notOk(existsSync(home), 'no login is kept');
  }
});
