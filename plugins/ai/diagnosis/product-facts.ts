// What the assistant knows about the product and how its services work together, from the file `assistant.json` of the
// templates.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Host } from '#core';
import type {} from '../../services/contract.ts';

const entry = z.strictObject({ key: z.string(), role: z.string(), use_when: z.string().optional() });

const factsSchema = z.strictObject({
  product: z.strictObject({
    name: z.string(),
    expansion: z.string(),
    description: z.string(),
    do_not_expand_as: z.array(z.string()),
  }),
  catalog: z.strictObject({
    usenet_workflows: z.array(entry),
    arr_apps: z.array(entry),
    indexers_and_support: z.array(entry),
    guidance: z.array(z.string()),
  }),
  rules: z.strictObject({ authority: z.string(), not_primary: z.array(z.string()), rules: z.array(z.string()) }),
});

type Facts = z.output<typeof factsSchema>;

/** The members of a bundle that are the same for every stack. */
export interface ProductFacts {
  readonly product: Facts['product'];
  readonly catalog: {
    readonly usenet_workflows: readonly {
      readonly service: string;
      readonly config_key: string;
      readonly role: string;
      readonly use_when: string;
      readonly docs: string | null;
    }[];
    readonly arr_apps: readonly { readonly service: string; readonly role: string }[];
    readonly indexers_and_support: readonly { readonly service: string; readonly role: string }[];
    readonly guidance: readonly string[];
  };
  readonly workflowRules: {
    readonly authority: string;
    readonly usenet_primary_dumb_services: readonly string[];
    readonly usenet_support_services: readonly string[];
    readonly not_primary_dumb_services: readonly string[];
    readonly rules: readonly string[];
  };
}

/** Services are named as in their templates. Rejects when the file cannot be read. */
export async function productFacts(host: Host): Promise<ProductFacts> {
  const text = await readFile(path.join(host.paths.templatesDir, 'assistant.json'), 'utf8');
  const { product, catalog, rules } = factsSchema.parse(JSON.parse(text));
  const template = (key: string) => host.find('service.templates')?.get(key);
  const nameOf = (key: string) => template(key)?.displayName ?? key;
  const roleOf = ({ key, role }: z.output<typeof entry>) => ({ service: nameOf(key), role });
  const support = [...catalog.arr_apps, ...catalog.indexers_and_support];
  return {
    product,
    catalog: {
      usenet_workflows: catalog.usenet_workflows.map(({ key, role, use_when: useWhen = '' }) => ({
        service: nameOf(key),
        config_key: key,
        role,
        use_when: useWhen,
        docs: template(key)?.links?.documentation ?? null,
      })),
      arr_apps: catalog.arr_apps.map(roleOf),
      indexers_and_support: catalog.indexers_and_support.map(roleOf),
      guidance: catalog.guidance,
    },
    workflowRules: {
      authority: rules.authority,
      usenet_primary_dumb_services: catalog.usenet_workflows.map(({ key }) => nameOf(key)),
      usenet_support_services: support.map(({ key }) => nameOf(key)),
      not_primary_dumb_services: rules.not_primary,
      rules: rules.rules,
    },
  };
}
