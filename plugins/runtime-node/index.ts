// Builds programs that Node.js runs, with npm, pnpm or yarn, and checks that this machine has what they need.
import { definePlugin } from '#core';
import { BuildEnvironment } from '#kit/build-environment';
import { isToBuild, needsTools } from '#kit/build-steps';
import type {} from '../installs/contract.ts';
import { buildWith } from './build.ts';
import { nodeFacts, PACKAGE_MANAGERS } from './facts.ts';
import { checkNode, checkPackageManager } from './machine.ts';

export default definePlugin({
  name: 'runtime-node',
  host: '^1',

  setup(host) {
    for (const manager of PACKAGE_MANAGERS)
      host.contribute('install.runtime', manager, {
        platform: manager,
        async check({ facts: given, ...request }) {
          const facts = nodeFacts.parse(given);
          const isBuiltHere = needsTools(facts, request.isFromSources);
          if (facts.buildsOnly !== true || isBuiltHere) await checkNode(request, facts);
          if (isBuiltHere) await checkPackageManager(request, manager);
        },
        async build(request) {
          const facts = nodeFacts.parse(request.facts);
          if (!(await isToBuild(facts, request.directory))) return;
          await checkNode(request, facts);
          await checkPackageManager(request, manager);
          await BuildEnvironment.with(request, environment => buildWith(manager, facts, request, environment));
        },
      });
  },
});
