// A host that is root without the user of its services, as in a rootless container, or without the capabilities that a
// start needs: it says what is wrong and what to do.
import { spawnSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { kid } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';

const NAMESPACE = ['unshare', '--user', '--map-root-user'];
const [program = '', ...words] = NAMESPACE;
const skip = spawnSync(program, [...words, 'true']).status === 0 ? false : 'user namespaces may not be made here';
const needsRoot = process.getuid?.() === 0 ? false : 'only root may drop capabilities';

/** The answer to a start of a service by a host within this command. */
async function startWithin(t: Test, within: readonly string[]): Promise<{ status: number; detail: string }> {
  const configDir = testDir(t, {});
  await chmod(configDir, 0o755);
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm']) });
  const service = await startStackwarden(configDir, port, {
    plugins: ['config', 'process'],
    within,
    // A root without capabilities may not write to the log directory of the service user, so that its log goes here.
    env: { TMPDIR: configDir },
  });
  t.teardown(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
  });
  const answer = await fetch(`${service.base}/process/start-service`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ process_name: 'Kid' }),
  });
  const { detail } = (await answer.json()) as { detail: string };
  return { status: answer.status, detail };
}

t.test('a user that is not mapped refuses the start', { skip }, async t => {
  const { status, detail } = await startWithin(t, NAMESPACE);
  t.equal(status, 400);
  t.match(
    detail,
    /^Kid was not started: it is to run as user 65534 and group 65534, which this container .* does not have\./,
  );
  t.match(detail, /Set puid and pgid, .*\/etc\/subuid.*--userns=keep-id/);
});

t.test('so does a root that may not change users', { skip: needsRoot }, async t => {
  const { status, detail } = await startWithin(t, ['setpriv', '--bounding-set=-setuid,-setgid']);
  t.equal(status, 400);
  t.match(
    detail,
    /^Kid was not started: it is to run as user 65534 and group 65534, but .* without CAP_SETUID and CAP_SETGID\. Give it/,
  );
});

t.test('and a root that may not enter the directory of the service', { skip: needsRoot }, async t => {
  const { status, detail } = await startWithin(t, ['setpriv', '--bounding-set=-dac_override,-dac_read_search']);
  t.equal(status, 400);
  t.match(
    detail,
    /^Kid cannot start: its directory .*\/services\/kid is closed to Stackwarden, .* --cap-add DAC_OVERRIDE/,
  );
});
