// Emby: finds its program in releases of every layout, and passes it the system's ffmpeg and ffprobe if that is
// configured. Nothing in its installation is changed for that.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import type {} from '../setup/contract.ts';

const KEY = 'emby';

const factsSchema = z.object({
  programs: z.array(z.string()).describe('where releases have it, below their folder; the first that is there'),
  machineTools: z.record(z.string(), z.string()).describe('programs of the machine, by the argument that names them'),
});

export default definePlugin({
  name: 'service-emby',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('service.program', KEY, {
      configKey: KEY,
      async choose({ plan, isTemplates, block, template, fill }) {
        if (!isTemplates) return;
        const { programs, machineTools } = factsSchema.parse(template.facts);
        const program = await firstThere(programs.map(place => fill(`{install_dir}/${place}`)));
        if (program !== undefined) {
          const launcher = program.endsWith('.dll') ? ['dotnet', program] : [program];
          plan.argv.splice(0, 1, ...launcher);
        }
        if (block.block.use_system_ffmpeg !== true) return;
        const directories = (plan.env.PATH ?? '').split(':').filter(Boolean);
        const found = await Promise.all(
          Object.entries(machineTools).map(async ([argument, name]) => ({
            at: plan.argv.indexOf(argument) + 1,
            file: await firstThere(directories.map(directory => path.join(directory, name))),
          })),
        );
        // All or none: Emby's own tools belong together and are not mixed with those of the system.
        if (found.some(({ at, file }) => at === 0 || file === undefined)) return;
        for (const { at, file = '' } of found) plan.argv[at] = file;
      },
    });
  },
});

async function firstThere(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) if ((await fileVersion(file)) !== null) return file;
  return undefined;
}
