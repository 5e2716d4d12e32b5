// A host in 160 MB gets twenty bodies of 9 MB at once: it handles one after the other, refuses the rest, and goes on.
import { request } from 'node:http';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { limitMemory } from '../support/memory-cgroup.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';

const LIMIT_BYTES = 160 * 1024 * 1024;
const COUNT = 20;
const BODY_BYTES = 9 * 1024 * 1024;
const LISTS = 3_000_000;
/** What is told to a client that asked for too much, or for what does not exist. */
const ANSWERS = new Set([400, 413, 503]);

const text = 'x'.repeat(BODY_BYTES);
const BODIES: Readonly<Record<string, { readonly route: string; readonly body: string }>> = {
  'one long text': { route: '/config', body: JSON.stringify({ process_name: 'Sleeper', updates: { text } }) },
  'many short texts': {
    route: '/config',
    body: JSON.stringify({ process_name: 'Sleeper', updates: { list: Array(90_000).fill('x'.repeat(97)) } }),
  },
  'three million lists': { route: '/config', body: `[${'[],'.repeat(LISTS)}[]]` },
  'the text of a file': {
    route: '/config/service-config',
    body: JSON.stringify({ service_name: 'Sleeper', updates: JSON.stringify({ text }) }),
  },
  'the values of a file': {
    route: '/config/service-config',
    body: JSON.stringify({ service_name: 'Sleeper', updates: { text } }),
  },
  'a value to be saved': { route: '/config', body: JSON.stringify({ updates: { sleeper: { env: { text } } } }) },
};

/** The status of the answer. */
function post(port: number, route: string, body: Buffer): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const sent = request({ port, path: route, method: 'POST', headers, agent: false }, answer => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject).end(body);
  });
}

const { STACKWARDEN_TEST_BUILD: build } = process.env;
const cgroup = build === undefined ? undefined : await limitMemory(LIMIT_BYTES);
const skip =
  build === undefined
    ? 'a host from its sources takes more memory; the runner of tests makes a build'
    : cgroup === undefined && 'no cgroup with a limit of memory can be made here';

t.test('a host in 160 MB', { skip }, async t => {
  if (cgroup === undefined) return;
  const configDir = testDir(t, { files: { 'a.json': '{}' } });
  const file = path.join(configDir, 'files/a.json');
  const port = await writeConfig(configDir, {
    sleeper: {
      enabled: false,
      process_name: 'Sleeper',
      command: ['sleep', '600'],
      config_dir: path.dirname(file),
      config_file: file,
    },
  });
  const host = await startStackwarden(configDir, port, { within: cgroup.within });
  t.teardown(async () => {
    host.child.kill('SIGKILL');
    await host.exited;
    await cgroup.remove();
  });
  for (const [what, { route, body }] of Object.entries(BODIES)) {
    const bytes = Buffer.from(body);
    const statuses = await Promise.all(Array.from({ length: COUNT }, () => post(port, route, bytes)));
    t.same(
      statuses.filter(status => !ANSWERS.has(status ?? 0)),
      [],
      `${what}: each is answered`,
    );
    t.ok(
      statuses.some(status => status !== 503),
      `${what}: one at least is read`,
    );
    t.equal((await fetch(`${host.base}/health`)).status, 200, `${what}: the host goes on`);
  }
});
