// The installations of the product's services, as their templates describe them.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { Problem } from '../../../core/contract/problem.ts';
import type { InstallRuntime, InstallSource, SourceRequest } from '../../../plugins/installs/contract.ts';
import { buildRequest } from '../../support/build-request.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir } from '../../support/host.ts';
import { ownTools } from '../../support/own-tools.ts';
import { contributionOf, templatesOf } from '../../support/templates.ts';

const skip = !existsSync(path.join(pluginsDir, 'services'));

t.test('every service but the host itself says how it is installed', { skip }, async t => {
  const templates = (await templatesOf()).list();
  t.same(
    templates.filter(({ install }) => install === undefined).map(({ key }) => key),
    ['dumb_api_service'],
  );
  for (const { key, install, block, launch } of templates) {
    if (install === undefined) continue;
    if ('with' in install) {
      t.ok(
        templates.some(other => other.key === install.with && other.install !== undefined),
        `${key} comes with another service`,
      );
      continue;
    }
    const { directory, build = {}, built = [], facts } = install;
    const { repo_owner: owner, repo_name: repository, platforms } = block;
    if (owner !== undefined && facts.owner !== undefined)
      t.match({ owner, repository }, { owner: facts.owner, repository: facts.repository }, `${key}: its repository`);
    if (Array.isArray(platforms) && platforms.length > 0)
      t.ok(
        platforms.every(platform => platform in build),
        `${key}: what builds it`,
      );
    if (directory === undefined) continue;
    const folder = directory.replace('{config_dir}', String(block.config_dir));
    const [command = ''] = [block.command, launch?.command ?? []].flat().map(String).filter(Boolean);
    const program = command.replace('{install_dir}', folder);
    // An interpreter of the machine is not part of a release.
    if (program.startsWith(folder)) {
      const made = [...install.markers, ...built].map(place => path.join(folder, place));
      t.ok(
        made.some(place => program === place || program.startsWith(`${place}/`)),
        `${key}: a release must have ${program}`,
      );
    }
  }
});

/** The plugin folder of each runtime. */
const RUNTIMES: Readonly<Record<string, string>> = {
  node: 'runtime-node',
  npm: 'runtime-node',
  pnpm: 'runtime-node',
  yarn: 'runtime-node',
  python: 'runtime-python',
  bun: 'runtime-bun',
  dotnet: 'runtime-dotnet',
  deno: 'runtime-deno',
  go: 'runtime-go',
};

t.test('facts for runtimes are understood, and a missing tool is reported', { skip }, async t => {
  const dir = testDir(t, {});
  await ownTools(t, dir)({});
  for (const { key, displayName, install } of (await templatesOf()).list()) {
    if (install === undefined || 'with' in install) continue;
    for (const [platform, facts] of Object.entries(install.build ?? {})) {
      const plugin = RUNTIMES[platform] ?? '';
      if (!existsSync(path.join(pluginsDir, plugin))) continue;
      const runtime = await contributionOf<InstallRuntime>(plugin, 'install.runtime', { key: platform });
      // The layout of some releases is known only once they are present.
      const layout = Object.fromEntries([facts.when ?? []].flat().map(file => [file, '']));
      const request = buildRequest(dir, layout, { facts, isFromSources: true });
      const missed = facts.when === undefined ? runtime.check(request) : runtime.build(request);
      await t.rejects(missed, new Problem(400, ''), `${displayName} asks for ${platform}`);
      t.equal(runtime.platform, platform, key);
    }
  }
});

t.test('facts for sources of releases are understood', { skip }, async t => {
  const asked = new Problem(502, 'the vendor was asked');
  for (const { key, install, block } of (await templatesOf()).list()) {
    if (install === undefined || 'with' in install) continue;
    const plugin = `install-${install.source}`;
    if (!existsSync(path.join(pluginsDir, plugin))) continue;
    const source = await contributionOf<InstallSource>(plugin, 'install.source');
    t.equal(source.source, install.source, key);
    const named = { configKey: key, key, path: [key], processName: key, isHost: false, block };
    const request: SourceRequest = {
      block: named,
      facts: install.facts,
      selector: { kind: 'latest' },
      architecture: 'amd64',
      installedVersion: null,
      signal: new AbortController().signal,
      fill: text => text,
      fetch: (): Promise<never> => Promise.reject(asked),
    };
    const answer = await source.latest(request).catch((error: unknown) => error);
    // A program of the machine is found without a request.
    t.ok(answer instanceof Problem || !(answer instanceof Error), `${key}: ${install.source}: ${answer}`);
  }
});

const cannotInstall = skip || !existsSync(path.join(pluginsDir, 'installs'));

t.test('a release counts as present with any program that can be started', { skip: cannotInstall }, async t => {
  const { installTarget } = await import('../../../plugins/installs/install-target.ts');
  const templates = await templatesOf();
  const { block = {}, facts = {} } = templates.get('emby') ?? {};
  const named = { configKey: 'emby', key: 'emby', path: ['emby'], processName: 'Emby', isHost: false, block };
  const programs = (facts.programs as string[]).map(place => [path.join('/opt/emby-server', place)]);
  t.ok(programs.length > 2, 'releases have it in several places');
  t.same(installTarget(named, templates, [named])?.layouts, programs);
});
