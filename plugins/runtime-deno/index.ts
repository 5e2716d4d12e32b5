// Builds programs with Deno, and checks that this machine has the version that a release asks for.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin, Problem } from '#core';
import { BuildEnvironment } from '#kit/build-environment';
import { buildStepFacts, isToBuild, needsTools, runSteps } from '#kit/build-steps';
import { GuardedDirectory } from '#kit/guarded-directory';
import { isAtLeast, toolVersion } from '#kit/tool-version';
import type { BuildRequest } from '../installs/contract.ts';

const denoFacts = z.strictObject(buildStepFacts);

const USUAL_STEPS = [
  ['deno', 'install'],
  ['deno', 'task', 'build'],
];
/** The file that names the image in which the publisher builds a release, and thereby a version of Deno. */
const DOCKERFILE = 'Dockerfile';
const IMAGE = /^FROM [^\n]{0,200}\bdenoland\/deno:(?:[a-z]{1,20}-)?(\d{1,5}(?:\.\d{1,5}){0,2})/im;
const MAX_BYTES = 64 * 1024;

export default definePlugin({
  name: 'runtime-deno',
  host: '^1',

  setup(host) {
    host.contribute('install.runtime', 'deno', {
      platform: 'deno',
      async check({ facts, ...request }) {
        if (needsTools(denoFacts.parse(facts), request.isFromSources)) await checkDeno(request, undefined);
      },
      async build(request) {
        const { steps = USUAL_STEPS, ...facts } = denoFacts.parse(request.facts);
        if (!(await isToBuild(facts, request.directory))) return;
        await checkDeno(request, await wantedVersion(request));
        await BuildEnvironment.with(request, environment => {
          const env = {
            DENO_DIR: environment.cache('deno'),
            DENO_NO_PROMPT: '1',
            DENO_NO_UPDATE_CHECK: '1',
            ...facts.env,
          };
          return runSteps(environment, steps, { ...facts, env }, request.fill);
        });
      },
    });
  },
});

/** undefined when the release names no version. */
async function wantedVersion({ directory }: BuildRequest): Promise<string | undefined> {
  const file = path.join(directory, DOCKERFILE);
  const text = await GuardedDirectory.at(file, (parent, name) => parent.read(name, MAX_BYTES)).catch(() => null);
  return IMAGE.exec(text?.toString('utf8') ?? '')?.[1];
}

/** Throws a Problem 400 when Deno is missing or too old. */
async function checkDeno(
  { block, ...asking }: Pick<BuildRequest, 'block' | 'user' | 'signal'>,
  least: string | undefined,
): Promise<void> {
  const version = await toolVersion(['deno', '--version'], asking);
  if (version !== undefined && (least === undefined || isAtLeast(version, least))) return;
  const wanted = least === undefined ? 'Deno' : `Deno ${least} or later`;
  const has = version === undefined ? 'which this machine does not have' : `but this machine has ${version}`;
  throw new Problem(
    400,
    `${block.processName} is built with ${wanted}, ${has}; install it from https://deno.com, ` +
      'so that the user of the services can run it as deno',
  );
}
