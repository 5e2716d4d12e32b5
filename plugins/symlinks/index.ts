// Symlinks: repairs, saves and restores the links of libraries, in a child process that may hang on a dead mount
// without holding up the host.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { definePlugin } from '#core';
import { declareHostState } from '#kit/host-state';
import { backupOperation } from './backup/backup-operation.ts';
import { registerBackupRoutes } from './backup/backup-routes.ts';
import type {} from './contract.ts';
import { registerJobEvents, tellOfEnds } from './jobs/job-events.ts';
import { SymlinkJobs } from './jobs/symlink-jobs.ts';
import { registerManifestRoutes } from './manifest/manifest-routes.ts';
import { installDirs } from './places/install-dirs.ts';
import { placesOf } from './places/path-rules.ts';
import { presetPoint } from './preset-point.ts';
import { repairOperation } from './repair/repair-operation.ts';
import { restoreOperation } from './restore/restore-operation.ts';
import { registerRestoreRoutes } from './restore/restore-routes.ts';
import { registerRoutes } from './routes.ts';
import { registerSchedule } from './schedule/registration.ts';
import { TaskProcesses } from './tasks/task-process.ts';

const LIMITS = { stallMs: 120_000, answerMs: 10_000 };
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export default definePlugin({
  name: 'symlinks',
  host: '^1',
  after: ['services', 'process'],

  async setup(host) {
    const presets = host.point('symlink.preset', presetPoint);
    const places = placesOf(host.paths.configDir, installDirs(ROOT));
    declareHostState(path.basename(places.stateDir));
    const processes = new TaskProcesses(places, LIMITS);
    const operations = [repairOperation(host, places), backupOperation(host, places), restoreOperation(host)];
    const jobs = await SymlinkJobs.open(host, processes, operations);
    registerJobEvents(host);
    registerRoutes(host, { jobs, presets, places });
    registerBackupRoutes(host, jobs, places);
    registerRestoreRoutes(host, jobs, places);
    registerManifestRoutes(host, places);
    const endSchedule = await registerSchedule(host, jobs, places);
    host.tap('host.ready', () => {
      tellOfEnds(host, jobs);
      void jobs.mend();
    });
    return async () => {
      await processes.close();
      await endSchedule();
    };
  },
});
