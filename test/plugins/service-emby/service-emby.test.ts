// Emby: which ffmpeg it uses, and where its program is found.
import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart } from '../../support/kids.ts';
import { noting, seenBy } from '../../support/seen.ts';
import { freePort } from '../../support/stackwarden.ts';

const skip = !['service-emby', 'setup', 'services'].every(name => existsSync(path.join(pluginsDir, name)));
const shipped = new URL('../../../templates/services/emby.json', import.meta.url);

t.test("the machine's ffmpeg is used if wanted and present", { skip }, async t => {
  const dir = testDir(t, { host: { templates: { services: {} } }, run: {}, tools: {} });
  for (const place of ['.', 'run']) await chmod(path.join(dir, place), 0o777);
  const release = path.join(dir, 'opt/emby-server');
  const template = (await readFile(shipped, 'utf8')).replaceAll('"/opt/emby-server', `"${release}`);
  await writeFile(path.join(dir, 'host/templates/services/emby.json'), template);
  const program = path.join(release, 'bin/emby-server');
  await noting(program);
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: ['config', 'process', 'services', 'setup', 'service-emby'],
    config: {
      emby: {
        process_name: 'Emby',
        port: await freePort(),
        config_dir: path.join(dir, 'run'),
        log_file: path.join(dir, 'run/own.log'),
        env: { PATH: `${path.join(dir, 'tools')}:/bin` },
      },
    },
  });
  t.teardown(() => app.stop());
  const tools = async (updates: object, seen = program): Promise<string[]> => {
    await writeFile(`${seen}.seen`, '');
    await app.post('/config', { process_name: 'Emby', updates });
    const answer = await restart(app, 'Emby');
    t.equal(answer.status, 200, answer.text);
    const { args } = await seenBy(seen);
    return ['-ffmpeg', '-ffprobe'].map(argument => args[args.indexOf(argument) + 1] ?? '');
  };
  const own = [path.join(release, 'bin/emby-ffmpeg'), path.join(release, 'bin/ffprobe')];
  const machine = ['ffmpeg', 'ffprobe'].map(name => path.join(dir, 'tools', name));
  const [ffmpeg = '', ffprobe = ''] = machine;
  await writeFile(ffmpeg, '', { mode: 0o755 });
  t.same(await tools({ log_level: 'DEBUG' }), own, 'one of two is none');
  await writeFile(ffprobe, '', { mode: 0o755 });
  t.same(await tools({ log_level: 'INFO' }), machine);
  t.same(await tools({ use_system_ffmpeg: false }), own);

  await rm(program);
  const other = path.join(release, 'system/EmbyServer');
  await noting(other);
  t.same(await tools({ use_system_ffmpeg: true }, other), machine, 'a release of another layout');
  await rm(other);
  await writeFile(`${other}.dll`, '');
  const dotnet = path.join(dir, 'tools/dotnet');
  await noting(dotnet);
  t.same(await tools({ use_system_ffmpeg: false }, dotnet), own);
  t.equal((await seenBy(dotnet)).args[0], `${other}.dll`);
});
