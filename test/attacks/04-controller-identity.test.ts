// Line 4: the rights of the host go to the program that the product's own template names, launched as that says, and to
// nothing else.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../support/directory.ts';
import { pluginsDir, startHost } from '../support/host.ts';
import { pidOf, start } from '../support/kids.ts';

const skip = process.getuid?.() === 0 ? false : 'only root has rights to give';
const SHIPPED = path.join(import.meta.dirname, '../../templates/services/rclone.json');

/** Stands for what prepares the program, and does nothing. */
const PREPARING = `export default { name: 'preparing', host: '^1', after: ['setup'], setup (host) {
  host.contribute('service.configure', 'rclone', { configKey: 'rclone', configure() {} })
} }`;

/**
 * Starts providers of mounts that differ by these members of their blocks, whose program on the PATH is a stand-in that
 * stays, and tells the user that each runs as.
 */
async function usersOf(
  t: Test,
  blocks: readonly Record<string, unknown>[],
  { template, isPrepared = true }: { template?: (shipped: Shipped) => unknown; isPrepared?: boolean } = {},
): Promise<number[]> {
  const dir = testDir(t, {
    bin: { rclone: '#!/bin/sh\nexec sleep 600\n' },
    config: { templates: { services: {} } },
    plugins: { preparing: { 'index.js': PREPARING } },
  });
  await chmod(path.join(dir, 'bin/rclone'), 0o755);
  const configDir = path.join(dir, 'config');
  if (template !== undefined) {
    const shipped = JSON.parse(await readFile(SHIPPED, 'utf8')) as Shipped;
    await writeFile(path.join(configDir, 'templates/services/rclone.json'), JSON.stringify(template(shipped)));
  }
  await mkdir(path.join(dir, 'work'));
  const before = process.env.PATH;
  process.env.PATH = `${path.join(dir, 'bin')}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const instances = blocks.map((more, index) => [
    `mount${index}`,
    { process_name: `Mount ${index}`, config_dir: path.join(dir, 'work'), stop_grace_seconds: 1, ...more },
  ]);
  const app = await startHost({
    pluginDirs: [pluginsDir, path.join(dir, 'plugins')],
    plugins: ['config', 'process', 'services', 'setup', 'env-files', ...(isPrepared ? ['preparing'] : [])],
    configDir,
    config: { rclone: { instances: Object.fromEntries(instances) } },
  });
  t.teardown(() => app.stop());
  const users: number[] = [];
  for (const index of blocks.keys()) {
    const answer = await start(app, `Mount ${index}`);
    t.equal(answer.status, 200, answer.text);
    const status = await readFile(`/proc/${await pidOf(app, `Mount ${index}`)}/status`, 'utf8');
    users.push(Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]));
  }
  return users;
}

interface Shipped {
  readonly block: Record<string, unknown>;
  readonly launch: { readonly command: readonly string[] };
}

const changes: Record<string, Record<string, unknown>> = {
  'another command': { command: ['sleep', '600'] },
  'another command as a text': { command: 'sh -c "exec sleep 600"' },
  'the program with other arguments': { command: ['rclone', 'mount', '--password-command=id'] },
  'a variable': { env: { LD_PRELOAD: '' } },
  'a file of variables, which the services could write': { env_file: [{ path: 'variables', required: false }] },
  'an option that would be a flag': { mount_name: '--password-command=id ' },
};
t.test(
  'the template’s own command has the rights, and what differs from it runs as the services’ user',
  { skip },
  async t => {
    const [own, ...others] = await usersOf(t, [{}, ...Object.values(changes)]);
    t.equal(own, 0);
    for (const [index, what] of Object.keys(changes).entries()) t.equal(others[index], 65_534, what);
  },
);

t.test('nor has it the rights while nothing is loaded that keeps others from leading it', { skip }, async t => {
  t.same(await usersOf(t, [{}], { isPrepared: false }), [65_534]);
});

const command = ['sh', '-c', 'exec sleep 600'];
const templates: Record<string, [block: Record<string, unknown>, (shipped: Shipped) => unknown]> = {
  'in its launch': [{ command }, shipped => ({ ...shipped, launch: { ...shipped.launch, command } })],
  'in its block': [{ command }, shipped => ({ ...shipped, block: { ...shipped.block, command } })],
};
for (const [what, [more, template]] of Object.entries(templates)) {
  t.test(`a user’s template gives the rights to no other command ${what}`, { skip }, async t => {
    t.same(await usersOf(t, [more], { template }), [65_534]);
  });
}
