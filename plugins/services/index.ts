// The catalogue of services: reads the templates and contributes their schemas, defaults and policies.
import path from 'node:path';
import { definePlugin } from '#core';
import { blockSchemaOf, sharedBlockSchema } from './block-schema.ts';
import { Catalogue } from './catalogue.ts';
import { controllerRights } from './controller-rights.ts';
import { tellStrayInstances } from './stray-instances.ts';
import { readSharedOptions, readTemplates } from './template-files.ts';
import { probeOf } from './template-probe.ts';

export default definePlugin({
  name: 'services',
  host: '^1',

  async setup(host) {
    const { templatesDir, configDir } = host.paths;
    const directories = [templatesDir, path.join(configDir, 'templates')].map(place => path.join(place, 'services'));
    const templates = await readTemplates(directories, host.paths, host.log);
    const sharedOptions = readSharedOptions(path.join(templatesDir, 'options.json'));
    const catalogue = new Catalogue(templates, sharedOptions);
    host.provide('service.templates', catalogue);
    tellStrayInstances(host, catalogue);
    host.contribute('config.block', 'options', { schema: sharedBlockSchema(sharedOptions) });

    for (const template of catalogue.list()) {
      const { key, instance, stop, launch } = template;
      const place = catalogue.placeOf(template);
      const [formerPath] = catalogue.formerPlacesOf(template);
      host.contribute('config.template', key, {
        path: instance === undefined ? place : [...place, 'instances', instance],
        block: name => catalogue.block(template, instance === undefined ? undefined : name),
        ...(formerPath === undefined ? {} : { formerPath }),
      });
      host.contribute('config.block', `template-${key}`, {
        schema: blockSchemaOf(template, catalogue),
        appliesTo: [key],
      });
      host.contribute('process.stop-policy', key, {
        configKey: key,
        tier: stop.tier,
        answersFirst: stop.answersFirst === true,
        ...(stop.signal === undefined ? {} : { signal: stop.signal }),
        ...(stop.graceSeconds === undefined ? {} : { graceMs: stop.graceSeconds * 1_000 }),
      });
      host.contribute('process.launch-policy', key, {
        configKey: key,
        ...(launch?.asController === true
          ? { asController: named => controllerRights(catalogue, template, named, host.use('config.store')) }
          : {}),
        bootsFirst: launch?.bootsFirst === true,
      });
      const probe = probeOf(template, host);
      if (probe !== undefined) host.contribute('process.probe', key, probe);
    }
  },
});
