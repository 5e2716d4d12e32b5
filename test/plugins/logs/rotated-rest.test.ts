// A follower of a log loses no line at a rotation, and reads none twice when the file is absent for a moment.
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
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
