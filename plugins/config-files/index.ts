// The configuration files of the services themselves: read, and changed in place without touching anything else.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { definePlugin, type Host, Problem } from '#core';
import { usersFiles } from '#kit/host-state';
import { unknownProcess } from '#kit/unknown-process';
import type {} from '../services/contract.ts';
import { guardFile } from './file-guard.ts';
import { FileVersions } from './file-versions.ts';
import { guardOpenApi } from './open-api-guard.ts';
import { isPath } from './path-safety.ts';
import { formatPoint } from './points.ts';
import { requireFormat, ServiceFiles } from './service-file.ts';
import * as wire from './wire.ts';

/** The code and the templates that the host runs. */
const PROGRAM_DIRS = ['../../core', '../../plugins', '../../templates'].map(place =>
  fileURLToPath(new URL(place, import.meta.url)),
);
const MAX_BODY_BYTES = 10 * 1024 * 1024;

export default definePlugin({
  name: 'config-files',
  host: '^1',
  after: ['process'],

  setup(host) {
    const store = host.use('config.store');
    const formats = host.point('config.format', formatPoint);
    const files = new ServiceFiles(
      () => [...formats.values()],
      () => ({
        configDir: host.paths.configDir,
        mainFile: store.file,
        ownPlaces: [
          ...PROGRAM_DIRS,
          ...usersFiles(host.paths.configDir),
          ...[store.get('dumb.plugins.dirs')].flat(),
        ].filter(isPath),
        dataRoot: store.get('data_root'),
        fileRoots: store.get('dumb.api_service.file_roots'),
        templateFile: configKey => host.find('service.templates')?.get(configKey)?.block.config_file,
      }),
      new FileVersions(path.join(host.paths.configDir, 'backups', 'service-config'), () => store.blocks()),
    );
    host.provide('config.files', files);
    guardOpenApi(host);
    const fileChanged = host.hook('config.file-changed', 'parallel');

    host.route({
      method: 'POST',
      path: '/config/service-config',
      summary: "Reads or changes a service's own configuration file",
      bodyLimitBytes: MAX_BODY_BYTES,
      holdsForeignNames: true,
      body: wire.body,
      response: wire.answer,
      async handle({ body, identity }) {
        const block = store.findBlock(body.service_name);
        if (block === undefined) throw unknownProcess(body.service_name);
        const { processName } = block;
        const target = { service: processName, service_path: block.path.join('.') };
        const updates = body.updates ?? '';
        const formatName = body.config_format || undefined;
        if (updates === '' || (isEmpty(updates) && body.mode !== 'replace')) {
          const { format, config, raw, revision } = await files.read(block);
          requireFormat(format, formatName);
          return { ...target, config_format: format.name, config, raw, revision };
        }
        refuseHeld(host, processName);
        const before = await files.values(block).catch(() => undefined);
        const { changed, revision } = await files.update(block, {
          updates,
          mode: body.mode ?? 'merge',
          revision: body.revision ?? undefined,
          format: formatName,
          guard: place => guardFile(host, place),
        });
        if (changed > 0) {
          host.log.info(`${processName}: ${changed} values of its file changed by ${identity.username ?? 'api'}`);
          await fileChanged.promise(block, { before, after: await files.values(block).catch(() => undefined) });
        }
        const warnings = changed > 0 ? overwriteWarnings(host, processName) : [];
        return { status: 'updated' as const, ...target, changed, revision, warnings };
      },
    });
  },
});

function isEmpty(updates: object | string): boolean {
  return typeof updates === 'object' && Object.keys(updates).length === 0;
}

function refuseHeld(host: Host, processName: string): void {
  const held = host.find('process.supervisor')?.get(processName)?.held ?? null;
  if (held !== null)
    throw new Problem(409, `${processName} is held: ${held.reason}; change its file when that is done`);
}

/** Also given while the service starts or stops, when it is most likely to write its file. */
function overwriteWarnings(host: Host, processName: string): string[] {
  const isAlive = (host.find('process.supervisor')?.get(processName)?.pid ?? null) !== null;
  return isAlive ? [`${processName} is running and may overwrite the file when it ends`] : [];
}
