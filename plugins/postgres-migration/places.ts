// Where jobs, backups and the work of jobs lie, below the configuration directory.

import { chmod, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Host } from '#core';
import { runChild } from '#kit/fs-out-of-process';
import { GuardedDirectory } from '#kit/guarded-directory';
import { declareHostState } from '#kit/host-state';
import { PrivateDirectory } from '#kit/private-directory';

/** Clients know this name too. */
const ROOT = 'arr-postgres-migration';
/** Other users may enter the directory but not list it, because a helper instance keeps its data below. */
const PASSABLE = 0o711;
const PRIVATE = 0o700;
const REMOVAL_MS = 600_000;

export type Owner = { readonly uid: number; readonly gid: number } | null;

export class Places {
  readonly #configDir: string;
  readonly #owner: () => Owner;

  /** `owner` gives the user that services run as. */
  constructor(configDir: string, owner: () => Owner) {
    declareHostState(ROOT);
    this.#configDir = configDir;
    this.#owner = owner;
  }

  get root(): string {
    return path.join(this.#configDir, ROOT);
  }

  /** The directory of job files; null when it is missing and `create` is false. */
  async jobs(options: { readonly create: boolean }): Promise<PrivateDirectory | null> {
    if (options.create) await this.#make();
    return PrivateDirectory.open(this.#configDir, [ROOT, 'jobs'], { ...options, keepModes: true });
  }

  /** A new directory for the backup of a job. It is private, because a backup holds secrets. */
  async backup(processName: string, jobId: string): Promise<string> {
    await this.#make();
    const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const parts = [...backupsOf(processName), stamp + endOf(jobId)];
    const directory = await PrivateDirectory.open(this.#configDir, parts, { keepModes: true });
    await directory.close();
    return directory.path;
  }

  /** Removes the backup of a job that did not complete it. */
  async removeBackup(processName: string, jobId: string): Promise<void> {
    const options = { create: false, keepModes: true };
    const directory = await PrivateDirectory.open(this.#configDir, backupsOf(processName), options);
    if (directory === null) return;
    try {
      for (const name of await directory.names())
        if (name.endsWith(endOf(jobId))) await rm(path.join(directory.path, name), { recursive: true, force: true });
    } finally {
      await directory.close();
    }
  }

  /** The directory in which a job works. Other users may enter it. */
  async work(jobId: string): Promise<string> {
    await this.#make();
    const parts = [ROOT, 'work', jobId];
    const directory = await PrivateDirectory.open(this.#configDir, parts, { keepModes: true });
    await directory.close();
    for (const place of [path.dirname(directory.path), directory.path]) await chmod(place, PASSABLE);
    return directory.path;
  }

  /** Makes a directory inside the work directory of a job, private to the user of the service. */
  async owned(work: string, name: string, owner: Owner): Promise<string> {
    const directory = await GuardedDirectory.open(path.join(work, name), { mode: PRIVATE, owner });
    directory.close();
    return directory.path;
  }

  /** Removes the work directory of a job. What the user of services has made there is removed as that user. */
  async removeWork(jobId: string): Promise<void> {
    const removal = ['-rf', '--', path.join(this.root, 'work', jobId)];
    const owner = this.#owner();
    if (owner !== null) await runChild('rm', removal, REMOVAL_MS, owner);
    await runChild('rm', removal, REMOVAL_MS);
  }

  /** Ids of the jobs whose work directory still exists. */
  async leftWork(): Promise<string[]> {
    const directory = await PrivateDirectory.open(this.#configDir, [ROOT, 'work'], { create: false, keepModes: true });
    if (directory === null) return [];
    try {
      return await directory.names();
    } finally {
      await directory.close();
    }
  }

  /** Makes the root. Rejects when other users may write to it. */
  async #make(): Promise<void> {
    await mkdir(this.root, { mode: PASSABLE }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const directory = await PrivateDirectory.open(this.#configDir, [ROOT], { keepModes: true });
    await directory.close();
    await chmod(this.root, PASSABLE);
  }
}

/** The directory that holds all backups of a process. */
function backupsOf(processName: string): string[] {
  return [ROOT, 'backups', processName.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') || 'service'];
}

/** The end of the directory name by which the backup of a job is found. */
function endOf(jobId: string): string {
  return `-${jobId.slice(0, 8)}`;
}

/** The user that services run as. */
export function ownerOf(host: Host): Owner {
  const { puid, pgid } = host.use('config.store').root();
  return process.geteuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
}
