// Builds programs that are written in Go, and checks that this machine has Go.
import { z } from 'zod';
import { definePlugin, Problem } from '#core';
import { BuildEnvironment } from '#kit/build-environment';
import { buildStepFacts, isToBuild, needsTools, runSteps } from '#kit/build-steps';
import { isAtLeast, toolVersion } from '#kit/tool-version';
import type { BuildRequest } from '../installs/contract.ts';

const goFacts = z.strictObject(buildStepFacts);

/** From this version on, Go itself downloads the version that a program asks for. */
const LEAST = '1.21';
/** Where the official installation puts Go. */
const PLACES = ['/usr/local/go/bin'];
/** Builds all programs of the release into the directory of its sources. */
const USUAL_STEPS = [['go', 'build', '-trimpath', '-o', './', './...']];

export default definePlugin({
  name: 'runtime-go',
  host: '^1',

  setup(host) {
    host.contribute('install.runtime', 'go', {
      platform: 'go',
      async check({ facts, ...request }) {
        if (needsTools(goFacts.parse(facts), request.isFromSources)) await checkGo(request);
      },
      async build(request) {
        const { steps = USUAL_STEPS, ...facts } = goFacts.parse(request.facts);
        if (!(await isToBuild(facts, request.directory))) return;
        await checkGo(request);
        await BuildEnvironment.with(request, environment => {
          const env = {
            GOCACHE: environment.cache('go-build'),
            // By default modules are read-only, so that they could not be removed.
            GOFLAGS: `-modcacherw -p=${request.childJobs}`,
            GOMODCACHE: environment.cache('go-mod'),
            PATH: [...PLACES, environment.path].join(':'),
            ...facts.env,
          };
          return runSteps(environment, steps, { ...facts, env }, request.fill);
        });
      },
    });
  },
});

/** Throws a Problem 400 when Go is missing or too old. */
async function checkGo({ block, ...asking }: Pick<BuildRequest, 'block' | 'user' | 'signal'>): Promise<void> {
  const version = await toolVersion(['go', 'version'], { ...asking, places: PLACES });
  if (version !== undefined && isAtLeast(version, LEAST)) return;
  const has = version === undefined ? 'which this machine does not have' : `but this machine has ${version}`;
  throw new Problem(
    400,
    `${block.processName} is built with Go ${LEAST} or later, ${has}; install it from https://go.dev/dl, ` +
      'so that the user of the services can run it as go',
  );
}
