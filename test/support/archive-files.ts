// Archives made of a few files, built with the usual programs.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Contents of files by path. `-> target` makes a link; a text that begins with `#!` becomes executable. */
export type ArchiveFiles = Readonly<Record<string, string>>;

export function tarGzipOf(files: ArchiveFiles): Promise<Buffer> {
  return made(files, (directory, file) => run('tar', ['-C', directory, '--owner=0', '--group=0', '-czf', file, '.']));
}

/** A Debian package; `control` has fields besides the usual ones. */
export function debOf(
  files: ArchiveFiles,
  {
    name,
    version = '1.0',
    control = {},
  }: { name: string; version?: string; control?: Readonly<Record<string, string>> },
): Promise<Buffer> {
  const fields = {
    Package: name,
    Version: version,
    Architecture: 'all',
    Maintainer: 'T <t@t>',
    Description: name,
    ...control,
  };
  const text = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
  return made({ ...files, 'DEBIAN/control': text.join('') }, (directory, file) =>
    run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-b', directory, file]),
  );
}

async function made(files: ArchiveFiles, pack: (directory: string, file: string) => Promise<unknown>): Promise<Buffer> {
  const place = await mkdtemp(path.join(tmpdir(), 'stackwarden-archive-'));
  try {
    const directory = path.join(place, 'content');
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(directory, name);
      await mkdir(path.dirname(file), { recursive: true });
      if (text.startsWith('-> ')) await symlink(text.slice(3), file);
      else await writeFile(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
    }
    const archive = path.join(place, 'archive');
    await pack(directory, archive);
    return await readFile(archive);
  } finally {
    await rm(place, { recursive: true });
  }
}
