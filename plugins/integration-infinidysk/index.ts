// InfiniDysk learns of the media managers that belong to it, under which categories they ask, and where it is mounted.
import { definePlugin } from '#core';
import type {} from '../arr/contract.ts';
import type {} from '../integrations/contract.ts';
import type {} from '../service-templates/contract.ts';
import { Settings } from './settings.ts';
import { categories, instances } from './wanted.ts';

const KEY = 'infinidysk';

type Entry = Readonly<Record<string, unknown>>;

export default definePlugin({
  name: 'integration-infinidysk',
  host: '^1',
  needs: ['arr', 'integrations'],

  setup(host) {
    host.contribute('service.integration', 'infinidysk-settings', {
      targets: [KEY],
      providers: ['sonarr', 'radarr', 'lidarr', 'whisparr', 'rclone'],
      async apply(target, told) {
        const arr = host.use('arr.applications');
        const { managers } = await arr.linkedTo(KEY);
        const templates = host.use('service.templates');
        const mount = host
          .use('config.store')
          .blocks()
          .find(({ configKey, block }) => configKey === 'rclone' && isMount(block, templates.linksOf(block)))?.block;
        const settings = new Settings(target, (url, options) => host.fetch(url, options));
        const present = await settings.read(['arr.instances', 'api.categories', 'rclone.mount-dir']);
        const slugs = managers.map(({ block }) => arr.slugOf(block));
        const wanted: Record<string, string> = {
          'arr.instances': instances(present['arr.instances'], managers),
          'api.categories': categories(present['api.categories'], slugs),
        };
        if (mount !== undefined && !present['rclone.mount-dir'])
          wanted['rclone.mount-dir'] = `${mount.mount_dir}/${mount.mount_name}`;
        const changes = Object.entries(wanted).filter(([name, value]) => (present[name] ?? '') !== value);
        if (managers.length === 0 || changes.length === 0) return;
        await settings.write(changes);
        for (const [name] of changes) told(`setting ${name} was brought up to date`);
      },
    });
  },
});

function isMount({ enabled, mount_dir: directory, mount_name: name }: Entry, links: readonly string[]): boolean {
  const isNamed = [directory, name].every(part => typeof part === 'string' && part !== '');
  return enabled === true && isNamed && links.includes(KEY);
}
