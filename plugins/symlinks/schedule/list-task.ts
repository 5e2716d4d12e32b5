// The task that lists the manifests of a schedule, because their directory may lie on a mount that does not answer.
import { type ManifestFile, manifestFiles } from '../manifest/manifest-files.ts';
import { ManifestName, type NameInput } from './manifest-name.ts';

export function listManifests(input: NameInput): Promise<ManifestFile[]> {
  const name = new ManifestName(input);
  return manifestFiles(name.directory, file => name.makes(file));
}
