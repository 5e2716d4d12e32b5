// Resolves what a request names to known services, before anything is changed.
import { type ConfigStore, Problem } from '#core';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';
import { cleanInstanceName } from './components.ts';
import type { CoreRequest, StartRequest } from './wire.ts';

type Options = Readonly<Record<string, unknown>>;
type OptionsByKey = Readonly<Record<string, Options | null>>;

export interface ChosenCore {
  readonly template: ServiceTemplate;
  readonly request: CoreRequest;
  readonly options: OptionsByKey;
}

export interface ChosenOptional {
  readonly template: ServiceTemplate;
  /** The service's name as the client sent it. */
  readonly name: string;
  readonly options: Options;
}

export interface Selection {
  readonly cores: readonly ChosenCore[];
  readonly optionals: readonly ChosenOptional[];
}

/** Throws a Problem 400 for an unknown service, for an instance name that is not allowed, and when none is selected. */
export function select(request: StartRequest, templates: ServiceTemplates, store: ConfigStore): Selection {
  const sentCores = Array.isArray(request.core_services) ? request.core_services : [request.core_services];
  const cores = sentCores.map(core => {
    const template = coreTemplate(core.name, templates, store);
    if (template.instance !== undefined) cleanInstanceName(core.instance_name ?? '');
    return { template, request: core, options: core.service_options ?? {} };
  });
  const named = [...new Set(request.optional_services ?? [])].map(name => ({ name, template: templates.find(name) }));
  const belonging = belongingTo([...cores, ...named.filter(({ template }) => isOptional(template))]);
  const optionals = named.flatMap(({ name, template }) => {
    if (template === undefined || !isOptional(template)) {
      // A component of a chosen service is started with that service.
      if (template !== undefined && belonging.has(template.key)) return [];
      throw new Problem(400, `'${name}' is not an optional service; GET /process/optional-services lists them`);
    }
    const fromCores = cores.map(({ options }) => options[template.key] ?? {});
    const own = request.optional_service_options?.[template.key] ?? {};
    return [{ template, name, options: Object.assign({}, ...fromCores, own) as Options }];
  });
  if (cores.length === 0 && optionals.length === 0) throw new Problem(400, 'No services were selected');
  return { cores, optionals };
}

/** The keys of sent options that name neither a service nor an instance, so that nothing takes the options. */
export function strayKeys(
  { cores }: Selection,
  { optional_service_options: own }: StartRequest,
  templates: ServiceTemplates,
  store: ConfigStore,
): string[] {
  const instances = new Set([
    ...store.blocks().map(({ key }) => key),
    ...cores.flatMap(({ request: { instance_name: name } }) => (name ? [name, cleanInstanceName(name)] : [])),
    // A component that a core service has for itself is an instance with its name.
    ...cores.map(({ template }) => template.displayName),
  ]);
  return [...cores.map(({ options }) => options), own ?? {}]
    .flatMap(Object.keys)
    .filter(key => templates.get(key)?.key !== key && !instances.has(key));
}

function isOptional(template: ServiceTemplate | undefined): boolean {
  return template?.onboarding?.roles.includes('optional') === true;
}

/** Config keys of the services that are started together with the chosen ones. */
function belongingTo(chosen: readonly { readonly template: ServiceTemplate | undefined }[]): ReadonlySet<string> {
  return new Set(
    chosen.flatMap(({ template }) => [
      ...(template?.onboarding?.dependencies ?? []),
      ...(template?.onboarding?.brings ?? []),
    ]),
  );
}

function coreTemplate(name: string, templates: ServiceTemplates, store: ConfigStore): ServiceTemplate {
  const block = store.findBlock(name);
  const template = templates.find(name) ?? (block === undefined ? undefined : templates.get(block.configKey));
  const fault = template === undefined ? 'a known' : 'a core';
  if (template?.onboarding?.roles.includes('core') !== true)
    throw new Problem(400, `'${name}' is not ${fault} service; GET /process/core-services lists those to start with`);
  return template;
}
