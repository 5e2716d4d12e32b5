// The wire form of the onboarding routes.
import { z } from 'zod';
import { queryList } from '#kit/query-values';

const texts = z.array(z.string());
const options = z.record(z.string(), z.unknown());
const optionsByKey = z.record(z.string(), options);
const helpByKey = z.lazy(() => z.record(z.string(), z.record(z.string(), z.string())));

export const coreServicesAnswer = z.lazy(() =>
  z.object({
    core_services: z.array(
      z.object({
        name: z.string(),
        key: z.string(),
        dependencies: texts,
        description: z.string(),
        debrid_providers: texts,
        service_options: optionsByKey.describe('options with their defaults, by component'),
        service_option_descriptions: helpByKey,
        supports_instances: z.boolean(),
        instance_options: optionsByKey,
        instance_option_descriptions: helpByKey,
      }),
    ),
  }),
);

export const optionalQuery = z.object({
  core_service: z.string().optional().describe('its dependencies are left out'),
  optional_services: queryList().optional().describe('keys that are chosen already'),
});

export const optionalServicesAnswer = z.lazy(() =>
  z.object({
    optional_services: z.array(
      z.object({
        name: z.string(),
        key: z.string(),
        description: z.string(),
        service_options: options,
        service_option_descriptions: z.record(z.string(), z.string()),
        supports_instances: z.boolean(),
        instance_options: optionsByKey,
        instance_option_descriptions: helpByKey,
      }),
    ),
  }),
);

const oneOrMany = z.lazy(() =>
  z
    .union([z.string(), z.array(z.string().nullable())])
    .nullable()
    .optional(),
);
const sentOptions = z.lazy(() =>
  z.record(z.string(), z.record(z.string(), z.unknown()).nullable()).nullable().optional(),
);

const coreRequest = z.lazy(() =>
  z.strictObject({
    name: z.string(),
    instance_name: z.string().nullable().optional(),
    debrid_service: oneOrMany.describe('provider label'),
    debrid_key: oneOrMany.describe('key, paired with the provider by its place'),
    service_options: sentOptions.describe('options by component or instance'),
  }),
);

export const startBody = z.lazy(() =>
  z.strictObject({
    core_services: z.union([coreRequest, z.array(coreRequest)]),
    optional_services: texts.nullable().optional(),
    optional_service_options: sentOptions,
  }),
);

export const startAnswer = z.lazy(() =>
  z.object({
    results: z.array(z.object({ service: z.string(), status: z.literal('started') })),
    errors: z.array(
      z.object({
        service: z.string(),
        error: z.string(),
        component: z.string().nullable().describe('failing dependency'),
      }),
    ),
    overridden: z.array(z.string()).describe('paths that were saved, and that the environment overrides'),
    warnings: z.array(z.string()).describe('those of the save'),
  }),
);

export type CoreRequest = z.output<typeof coreRequest>;
export type StartRequest = z.output<typeof startBody>;
export type StartAnswer = z.output<typeof startAnswer>;
