// A follower of a log loses no line at a rotation, and reads none twice when the file is absent for a moment.
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { HostClient } from '../../../core/contract/command.ts';
import { LogReader } from '../../../plugins/logs/client/log-reader.ts';
import { startHost } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';

t.test('a followed log gives each line once over its rotation', async t => {
  const app = await startHost({
    plugins: ['logs', 'process'],
    config: { kid: kid('Kid', ['calm'], { log_file: 'followed.log' }) },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'log', 'followed.log');
  const rotated = path.join(app.configDir, 'log', 'followed-2026-01-02_1.log');
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, 'one\ntwo\n');
  const asked: Record<string, string | undefined>[] = [];
  const get = async (route: string, query: Record<string, string | undefined> = {}) => {
    asked.push(query);
    return (await app.get(`${route}?${new URLSearchParams(query as Record<string, string>)}`)).body;
  };
  const reader = new LogReader({ get } as unknown as HostClient, 'Kid', undefined);
  t.same(await reader.tail(1), ['two']);
  await appendFile(file, 'three\n');
  t.same(await reader.further(), ['three']);
  await appendFile(file, 'four\npassword=hunter2secret\n');
  await rename(file, rotated);
  await writeFile(file, 'five\n');
  t.same(await reader.further(), ['four', 'password=[REDACTED]', 'five']);
  await appendFile(file, 'six\n');
  t.same(await reader.further(), ['six']);

  await appendFile(file, 'seven\n');
  await rename(file, rotated);
  t.same(await reader.further(), []);
  await writeFile(file, 'eight\n');
  t.same(await reader.further(), ['seven', 'eight'], 'it goes on where it was before it was gone');

  const { file_id: oldId } = await get('/logs', { process_name: 'Kid' });
  await appendFile(file, 'password=hunter2secret\nnine\n');
  await rename(file, rotated);
  await writeFile(file, 'ten\n');
  const insideLine = String('eight\npassword='.length);
  const within = await get('/logs', { process_name: 'Kid', cursor: insideLine, file_id: oldId, rest: 'true' });
  t.equal(within.rest, 'nine\n', 'a place within a line shows no secret of it');

  const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
  await appendFile(file, `-----BEGIN PRIVATE KEY-----\n${body}\n`);
  await reader.further();
  await appendFile(file, `${body}\n${body}\n`);
  await rename(file, rotated);
  await writeFile(file, 'eleven\n');
  t.same(await reader.further(), ['eleven'], 'a place within a private key shows nothing of it');

  const [{ cursor, file_id: fileId } = {}] = asked.slice(-1);
  const plain = await get('/logs', { process_name: 'Kid', cursor, file_id: fileId });
  t.match(plain, { reset: true, chunk: 'eleven\n' });
  t.notOk('rest' in plain, 'for those that ask for it');
});

t.test('a file that begins within a private key shows nothing of it', async t => {
  const app = await startHost({
    plugins: ['logs', 'process'],
    config: { kid: kid('Kid', ['calm'], { log_file: 'key.log' }) },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'log', 'key.log');
  const rotate = (number: number) => rename(file, path.join(app.configDir, 'log', `key.log.${number}`));
  const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
  const get = async (query: Record<string, string> = {}) =>
    (await app.get(`/logs?${new URLSearchParams({ process_name: 'Kid', ...query })}`)).body;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `one\n-----BEGIN PRIVATE KEY-----\n${body}\n`);
  const first = await get();
  await rotate(2);
  await writeFile(file, `${body}\n${body}\n`);
  const page = await get();
  t.equal(page.chunk, '', 'its first page');
  await appendFile(file, `${body}\n`);
  const { chunk } = await get({ cursor: String(page.cursor), file_id: page.file_id });
  t.equal(chunk, '', 'the page after it');
  await rotate(1);
  await writeFile(file, `${body}\n-----END PRIVATE KEY-----\ntwo\n`);
  const { rest } = await get({ cursor: '0', file_id: page.file_id, rest: 'true' });
  t.equal(rest, '', 'the rest of a rotated file');
  t.match(await get({ cursor: String(first.cursor), file_id: first.file_id, rest: 'true' }), {
    rest: '',
    chunk: 'two\n',
  });
  await rotate(1);
  await writeFile(file, `${body}\n`);
  t.equal((await get()).chunk, `${body}\n`, 'a line that only looks like one of a key is shown');
});

t.test('a file that seems to begin within a private key shows nothing of it, where none tells', async t => {
  const app = await startHost({
    plugins: ['logs', 'process'],
    config: { kid: kid('Kid', ['calm'], { log_file: 'key.log' }) },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'log', 'key.log');
  const get = async () => (await app.get('/logs?process_name=Kid')).body.chunk;
  const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
  const checksum = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  await mkdir(path.dirname(file), { recursive: true });
  for (const former of ['alone', 'after a compressed file']) {
    if (former !== 'alone') await writeFile(`${file}.1.gz`, gzipSync('one\n-----BEGIN PRIVATE KEY-----\n'));
    await writeFile(file, `${body}\n${body}\n`);
    t.equal(await get(), '', former);
    await appendFile(file, `${body.slice(0, 20)}==\n-----END PRIVATE KEY-----\ntwo\n`);
    t.equal(await get(), 'two\n');
    for (const harmless of [checksum, body.slice(1), `${body.slice(0, 60)} is it`]) {
      await writeFile(file, `${harmless}\nthree\n`);
      t.equal(await get(), `${harmless}\nthree\n`);
    }
  }
});
