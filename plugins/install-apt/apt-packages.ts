// Installs programs that are published as packages in a Debian repository, as packages of the machine itself.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { Problem } from '#core';
import type {
  AvailableRelease,
  FetchedRelease,
  FetchRequest,
  InstallSource,
  PlaceRequest,
  SourceRequest,
} from '../installs/contract.ts';
import { aptFacts } from './apt-facts.ts';
import type { KnownKeys } from './known-keys.ts';
import { debianArchitecture, systemNames } from './machine.ts';
import {
  checkMachine,
  downloadNeeded,
  installedVersions,
  installPackages,
  type PackageFile,
} from './machine-packages.ts';
import { choosePackages, type PackageChoice } from './package-choice.ts';
import { repositoryPackages } from './repository.ts';

/** The file with the list of packages, in the folder where they are kept. */
const LIST = 'packages.json';

const broughtPackages = z.array(
  z.object({
    name: z.string(),
    version: z.string(),
    isPresent: z.boolean().describe('whether the machine had it already, so that it was not downloaded'),
  }),
);
type BroughtPackage = z.output<typeof broughtPackages>[number];

export class AptPackages implements InstallSource {
  readonly source = 'apt';
  readonly #keys: KnownKeys;

  constructor(keys: KnownKeys) {
    this.#keys = keys;
  }

  async latest(request: SourceRequest): Promise<AvailableRelease> {
    await checkMachine();
    const { version, releasesBehind } = (await chosen(request, this.#keys)).choice;
    return { version, notesUrl: null, releasesBehind };
  }

  async fetch(request: FetchRequest): Promise<FetchedRelease> {
    await checkMachine();
    request.report({ text: 'asks for the packages', percent: null });
    const { choice, repository } = await chosen(request, this.#keys);
    const present = await installedVersions(choice.packages.map(({ name }) => name));
    const packages: BroughtPackage[] = [];
    const files: PackageFile[] = [];
    for (const { name, version, file, sizeBytes, sha256 } of choice.packages) {
      const isPresent = present.get(name) === version;
      packages.push({ name, version, isPresent });
      if (isPresent) continue;
      const digest = { algorithm: 'sha256', hex: sha256 } as const;
      const options = { name: fileOf(name), digest, maxBytes: sizeBytes };
      files.push({ name, file: await request.download(`${repository}/${file}`, options) });
    }
    request.report({ text: `looks for what ${files.length} packages need`, percent: null });
    if (files.length > 0) await downloadNeeded(files, request.signal);
    return { version: choice.version, files: { [LIST]: JSON.stringify(packages) } };
  }

  async place({ block, directory, version }: PlaceRequest): Promise<void> {
    const packages = broughtPackages.parse(JSON.parse(await readFile(path.join(directory, LIST), 'utf8')));
    const present = await installedVersions(packages.map(({ name }) => name));
    const lacking = packages.filter(({ name, version: wanted }) => present.get(name) !== wanted);
    const lost = lacking.find(({ isPresent }) => isPresent);
    if (lost !== undefined)
      throw new Problem(
        409,
        `${lost.name} ${lost.version} of ${block.processName} ${version} was on this machine and is no more; install ${version} again`,
      );
    const files = lacking.map(({ name }) => ({ name, file: path.join(directory, fileOf(name)) }));
    if (files.length > 0) await installPackages(files);
  }
}

function fileOf(name: string): string {
  return `${name}.deb`;
}

async function chosen(
  request: SourceRequest,
  keys: KnownKeys,
): Promise<{ readonly choice: PackageChoice; readonly repository: string }> {
  const { packages: names, ...place } = aptFacts.parse(request.facts);
  const pinned = pinnedVersion(request);
  const system = await systemNames();
  const filled = (text: string) =>
    request.fill(text.replace('{os_id}', system.os_id).replace('{codename}', system.codename));
  const repository = filled(place.repository);
  const entries = await repositoryPackages(
    request,
    {
      repository,
      suite: filled(place.suite),
      component: place.component,
      key: filled(place.key),
      fingerprint: place.fingerprint,
    },
    keys,
    debianArchitecture(request.architecture),
  );
  const { host } = new URL(repository);
  return { repository, choice: choosePackages(entries, { names, pinned, installed: request.installedVersion, host }) };
}

/** The version that the block selects; undefined for the newest. Throws a Problem 400 for other selections. */
function pinnedVersion({ selector, block }: SourceRequest): string | undefined {
  if (selector.kind === 'latest') return undefined;
  if (selector.kind === 'pinned') return selector.version;
  throw new Problem(
    400,
    `${block.processName} comes as packages, so there is no ${selector.kind} of it; select a version by pinned_version, or nothing for the latest`,
  );
}
