// Creates virtual environments for programs that Python runs, and checks that this machine can.
import { definePlugin } from '#core';
import { BuildEnvironment } from '#kit/build-environment';
import { isToBuild, needsTools } from '#kit/build-steps';
import type {} from '../installs/contract.ts';
import { buildVenv } from './build.ts';
import { pythonFacts } from './facts.ts';
import { findInterpreter } from './interpreter.ts';

export default definePlugin({
  name: 'runtime-python',
  host: '^1',

  setup(host) {
    host.contribute('install.runtime', 'python', {
      platform: 'python',
      async check({ facts: given, ...request }) {
        const facts = pythonFacts.parse(given);
        if (needsTools(facts, request.isFromSources)) await findInterpreter(request, facts);
      },
      async build(request) {
        const facts = pythonFacts.parse(request.facts);
        if (!(await isToBuild(facts, request.directory))) return;
        const interpreter = await findInterpreter(request, facts);
        await BuildEnvironment.with(request, environment => buildVenv(interpreter, facts, request, environment));
      },
    });
  },
});
