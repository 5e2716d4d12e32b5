// Builds programs that Bun runs, and checks that this machine has Bun.
import { z } from 'zod';
import { definePlugin, Problem } from '#core';
import { BuildEnvironment } from '#kit/build-environment';
import { buildStepFacts, isToBuild, needsTools, runSteps } from '#kit/build-steps';
import { toolVersion } from '#kit/tool-version';
import type {} from '../installs/contract.ts';

const bunFacts = z.strictObject({
  ...buildStepFacts,
  places: z.array(z.string()).default([]).describe('where it is looked for before the directories of PATH'),
});

const USUAL_STEPS = [
  ['bun', 'install'],
  ['bun', 'run', '--if-present', 'build'],
];

export default definePlugin({
  name: 'runtime-bun',
  host: '^1',

  setup(host) {
    host.contribute('install.runtime', 'bun', {
      platform: 'bun',
      async check({ facts: given, block, ...asking }) {
        const { places, ...facts } = bunFacts.parse(given);
        if (!needsTools(facts, asking.isFromSources)) return;
        if ((await toolVersion(['bun', '--version'], { ...asking, places })) !== undefined) return;
        const looked = [...places, 'the directories of PATH'].join(', ');
        throw new Problem(
          400,
          `${block.processName} needs Bun, which this machine does not have (looked for in ${looked}); ` +
            'install it from https://bun.sh, or with npm install --global bun',
        );
      },
      async build(request) {
        const { places, steps = USUAL_STEPS, ...facts } = bunFacts.parse(request.facts);
        if (!(await isToBuild(facts, request.directory))) return;
        await BuildEnvironment.with(request, environment => {
          const env = {
            BUN_INSTALL_CACHE_DIR: environment.cache('bun'),
            DO_NOT_TRACK: '1',
            PATH: [...places, environment.path].join(':'),
            ...facts.env,
          };
          return runSteps(environment, steps, { ...facts, env }, request.fill);
        });
      },
    });
  },
});
