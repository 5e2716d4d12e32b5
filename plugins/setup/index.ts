// Sets up services with a template before each launch: command, environment, program, directories and files.
import { z } from 'zod';
import { definePlugin, type PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import { findLevel } from '#kit/log-level';
import { ServiceSetup } from './setup.ts';

/** Long enough for steps that create data directories. */
const STEP_DEADLINE_MS = 600_000;
/** Long enough for programs that are built before their first start. */
const PREPARE_DEADLINE_MS = 10_800_000;

const stepPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), configure: functionSchema }),
  deadlineMs: STEP_DEADLINE_MS,
};

const programPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), check: functionSchema.optional(), choose: functionSchema }),
};

export default definePlugin({
  name: 'setup',
  host: '^1',
  after: ['process', 'config-files', 'services'],

  setup(host) {
    const install = host.hook('service.install', 'series', { guarded: false, deadlineMs: STEP_DEADLINE_MS });
    const steps = host.point('service.configure', stepPoint);
    const programs = host.point('service.program', programPoint);
    const setup = new ServiceSetup(host, { steps, programs }, context => install.promise(context));

    host.provide('service.setup', setup);
    host.contribute('process.placeholders', 'setup', {
      values(block) {
        const directory = host.find('service.templates')?.installDirectory(block);
        const level = findLevel(String(block.block.log_level ?? ''));
        return {
          ...(directory === undefined ? {} : { install_dir: directory }),
          // Users write levels in more ways than programs understand.
          ...(level === undefined ? {} : { log_level: level }),
        };
      },
    });

    // Runs before the taps of other plugins, so that they see the command and variables from the template.
    host.tap(
      'process.prepare',
      async plan => {
        const template = host.find('service.templates')?.get(plan.configKey);
        if (template !== undefined) await setup.prepare(plan, template);
        return plan;
      },
      { stage: -10, deadlineMs: PREPARE_DEADLINE_MS },
    );
  },
});
