// Line 6: children of the host for which no descriptor is left, which Node gives no pipes: their owners fail in their
// usual way, nothing is left waiting, and what was asked for is asked again.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { usingUp } from '../support/used-up.ts';

t.test('a look at a log fails, and the next one does not', async t => {
  const file = path.join(testDir(t, { 'app.log': 'database is locked\n' }), 'app.log');
  const looks = await usingUp(`
    const { FileLook } = await load('plugins/database-health/look.ts')
    const files = new FileLook()
    const look = () => files.log('App', { file: ${JSON.stringify(file)}, known: null, tailBytes: 1000 })
    useUp(2)
    const looks = [await look()]
    release()
    looks.push(await look())
    files.close()
    return looks`);
  t.match(looks, [{ error: 'The look at it failed' }, { isNew: true }]);
});

t.test('a transfer ends with its fault', async t => {
  const ended = await usingUp(`
    const { getEventListeners } = await import('node:events')
    const { runTransfer } = await load('plugins/postgres-migration/transfer/transfer.ts')
    const { signal } = new AbortController()
    useUp(0)
    const { fault, message } = await runTransfer({ databases: [] }, { signal, onProgress () {} }).catch(error => error)
    const hasTimer = process.getActiveResourcesInfo().includes('Timeout')
    return { fault, message, hasTimer, listeners: getEventListeners(signal, 'abort').length }`);
  t.match(ended, { fault: { code: 'transfer.ended' }, message: /EMFILE/, hasTimer: false, listeners: 0 });
});

t.test('a helper instance is not started', async t => {
  const message = await usingUp(`
    const { HelperProcess } = await load('plugins/postgres-migration/helper-process.ts')
    const command = { argv: ['true'], cwd: '/', env: {}, user: {}, secrets: [] }
    useUp(0)
    return HelperProcess.start(command, async () => {}).catch(error => error.message)`);
  t.equal(message, 'the helper instance could not be started');
});

t.test('a helper instance whose start time cannot be read is ended', async t => {
  const ended = await usingUp(`
    const { HelperProcess } = await load('plugins/postgres-migration/helper-process.ts')
    const { ChildProcess } = await import('node:child_process')
    const { once } = await import('node:events')
    const command = { argv: ['true'], cwd: '/', env: {}, user: {}, secrets: [] }
    const { spawn } = ChildProcess.prototype
    let exit
    ChildProcess.prototype.spawn = function (options) {
      const result = spawn.call(this, options)
      exit = once(this, 'exit')
      useUp(0)
      return result
    }
    const message = await HelperProcess.start(command, async () => {}).catch(error => error.message)
    return { message, exit: await exit }`);
  t.same(ended, { message: 'the helper instance could not be started', exit: [null, 'SIGTERM'] });
});

t.test('a watch is not made, and the log says so', async t => {
  const warnings = await usingUp(`
    const { Watches } = await load('plugins/watch-files/watches.ts')
    const warnings = []
    const paths = { logDir: '/' }
    const use = () => ({ root: () => ({ puid: process.getuid(), pgid: process.getgid() }) })
    const watches = new Watches({ paths, use, log: { warn: text => warnings.push(text) } })
    useUp(0)
    watches.begin({ processName: 'App', block: { watch: '/tmp' }, cwd: '/', user: null })
    await new Promise(setImmediate)
    return warnings`);
  t.match(warnings, [/^App is not watched for changes until its next start: .*too many open files/]);
});

t.test('a look for a version fails, and the next one does not', async t => {
  const looks = await usingUp(`
    const { readChild } = await load('plugins/versions/child-output.ts')
    const { signal } = new AbortController()
    const look = () => readChild(['true'], { user: null, signal }, () => false).catch(({ code }) => code)
    useUp(0)
    const looks = [await look(), process.getActiveResourcesInfo().includes('Timeout')]
    release()
    looks.push(await look())
    return looks`);
  t.same(looks, ['EMFILE', false, true]);
});

t.test('an archive is not unpacked', async t => {
  const dir = testDir(t, { into: {} });
  await writeFile(path.join(dir, 'archive'), '');
  const code = await usingUp(`
    const { unpack } = await load('plugins/archives/unpack.ts')
    const { signal } = new AbortController()
    useUp(5)
    const [archive, into] = ${JSON.stringify([path.join(dir, 'archive'), path.join(dir, 'into')])}
    return unpack({ archive, into, user: null, signal }).catch(({ code }) => code)`);
  t.equal(code, 'EMFILE');
});

t.test('a command is not run', async t => {
  const message = await usingUp(`
    const { runInGroup } = await load('core/kit/group-command.ts')
    const { signal } = new AbortController()
    useUp(0)
    const command = { argv: ['true'], env: {}, user: null, limitMs: 60_000, signal }
    return runInGroup(command).catch(({ message }) => message)`);
  t.match(message, /^true failed: too many open files/);
});
