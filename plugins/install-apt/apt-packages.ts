// Installs programs that come as packages of a Debian repository, into the machine itself.
import { Problem } from '#core';
import type {
  AvailableRelease,
  FetchedRelease,
  FetchRequest,
  InstallSource,
  SourceRequest,
} from '../installs/contract.ts';
import { aptFacts } from './apt-facts.ts';
import { debianArchitecture, systemNames } from './machine.ts';
import { checkMachine, installedVersions, installPackages, type PackageFile } from './machine-packages.ts';
import { choosePackages, type PackageChoice } from './package-choice.ts';
import { repositoryPackages } from './repository.ts';

export const aptPackages: InstallSource = {
  source: 'apt',
  intoMachine: true,

  async latest(request: SourceRequest): Promise<AvailableRelease> {
    await checkMachine();
    const { version, releasesBehind } = (await chosen(request)).choice;
    return { version, notesUrl: null, releasesBehind };
  },

  async fetch(request: FetchRequest): Promise<FetchedRelease> {
    await checkMachine();
    request.report({ text: 'asks for the packages', percent: null });
    const { choice, repository } = await chosen(request);
    const present = await installedVersions(choice.packages.map(({ name }) => name));
    const packages: PackageFile[] = [];
    for (const { name, version, file, sizeBytes, sha256 } of choice.packages) {
      if (present.get(name) === version) continue;
      const digest = { algorithm: 'sha256', hex: sha256 } as const;
      const options = { name: `${name}.deb`, digest, maxBytes: sizeBytes };
      packages.push({ name, sha256, file: await request.download(`${repository}/${file}`, options) });
    }
    request.report({ text: `installs ${packages.length} packages`, percent: null });
    if (packages.length > 0) await installPackages(packages, request.signal);
    return { version: choice.version };
  },
};

async function chosen(
  request: SourceRequest,
): Promise<{ readonly choice: PackageChoice; readonly repository: string }> {
  const { packages: names, ...place } = aptFacts.parse(request.facts);
  const pinned = pinnedVersion(request);
  const system = await systemNames();
  const filled = (text: string) =>
    request.fill(text.replace('{os_id}', system.os_id).replace('{codename}', system.codename));
  const repository = filled(place.repository);
  const entries = await repositoryPackages(
    request,
    { repository, suite: filled(place.suite), component: place.component, key: filled(place.key) },
    debianArchitecture(request.architecture),
  );
  const { host } = new URL(repository);
  return { repository, choice: choosePackages(entries, { names, pinned, installed: request.installedVersion, host }) };
}

/** undefined: the newest. */
function pinnedVersion({ selector, block }: SourceRequest): string | undefined {
  if (selector.kind === 'latest') return undefined;
  if (selector.kind === 'pinned') return selector.version;
  throw new Problem(
    400,
    `${block.processName} comes as packages, so there is no ${selector.kind} of it; select a version by pinned_version, or nothing for the latest`,
  );
}
