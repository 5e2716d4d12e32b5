// Builds programs that .NET runs, and checks that this machine has its SDK.
import { z } from 'zod';
import { definePlugin, Problem } from '#core';
import { BuildEnvironment } from '#kit/build-environment';
import { buildStepFacts, isToBuild, needsTools, runSteps } from '#kit/build-steps';
import { toolLines } from '#kit/tool-version';
import type {} from '../installs/contract.ts';

const dotnetFacts = z.strictObject({
  ...buildStepFacts,
  version: z.int().min(1).optional().describe('the least major version of the SDK'),
});

const USUAL_STEPS = [['dotnet', 'publish', '-c', 'Release', '-o', 'app']];

export default definePlugin({
  name: 'runtime-dotnet',
  host: '^1',

  setup(host) {
    host.contribute('install.runtime', 'dotnet', {
      platform: 'dotnet',
      async check({ facts: given, block, ...asking }) {
        const { version, ...facts } = dotnetFacts.parse(given);
        if (!needsTools(facts, asking.isFromSources)) return;
        const lines = (await toolLines(['dotnet', '--list-sdks'], asking)) ?? [];
        const versions = lines.map(line => line.split(' ', 1)[0] ?? '').filter(line => /^\d/.test(line));
        if (versions.some(found => Number.parseInt(found, 10) >= (version ?? 0))) return;
        const wanted = version === undefined ? 'the .NET SDK' : `the .NET SDK ${version} or later`;
        const has =
          versions.length === 0 ? 'which this machine does not have' : `but this machine has ${versions.join(', ')}`;
        throw new Problem(
          400,
          `${block.processName} is built with ${wanted}, ${has}; install it from https://dotnet.microsoft.com/download, ` +
            'so that the user of the services can run it as dotnet',
        );
      },
      async build(request) {
        const { steps = USUAL_STEPS, ...facts } = dotnetFacts.parse(request.facts);
        if (!(await isToBuild(facts, request.directory))) return;
        await BuildEnvironment.with(request, environment => {
          const env = {
            DOTNET_CLI_HOME: environment.home,
            DOTNET_CLI_TELEMETRY_OPTOUT: '1',
            DOTNET_NOLOGO: '1',
            // Compiler servers would go on running after the build.
            DOTNET_CLI_USE_MSBUILD_SERVER: '0',
            MSBUILDDISABLENODEREUSE: '1',
            UseSharedCompilation: 'false',
            NUGET_PACKAGES: environment.cache('nuget'),
            ...facts.env,
          };
          return runSteps(environment, steps, { ...facts, env }, request.fill);
        });
      },
    });
  },
});
