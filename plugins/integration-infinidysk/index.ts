// InfiniDysk learns of the media managers that belong to it, under which categories they ask, and where it is mounted.
import { definePlugin } from '#core';
import type {} from '../arr/contract.ts';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-templates/contract.ts';
import type {} from '../setup-rclone/contract.ts';
import { Settings } from './settings.ts';
import { categories, instances, mountDirectory, remoteControl } from './wanted.ts';

const KEY = 'infinidysk';
const NAMES = [
  'arr.instances',
  'api.categories',
  'rclone.mount-dir',
  'rclone.host',
  'rclone.rc-enabled',
  'rclone.user',
  'rclone.pass',
];

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
        const blocks = host.find('process.supervisor')?.blocks() ?? [];
        const mount = blocks.find(
          ({ configKey, block }) => configKey === 'rclone' && isMount(block, templates.linksOf(block)),
        );
        const control = mount && (await host.find('rclone.control')?.(mount.processName));
        const settings = new Settings(target, (url, options) => host.fetch(url, options));
        const present = await settings.read(NAMES);
        const slugs = managers.map(({ block }) => arr.slugOf(block));
        const wanted = {
          ...(managers.length === 0 ? {} : { 'arr.instances': instances(present['arr.instances'], managers) }),
          ...(managers.length === 0 ? {} : { 'api.categories': categories(present['api.categories'], slugs) }),
          ...(mount === undefined ? {} : mountDirectory(present, mount.block)),
          ...(control === undefined ? {} : remoteControl(present, control)),
        };
        const changes = Object.entries(wanted).filter(([name, value]) => (present[name] ?? '') !== value);
        if (changes.length === 0) return;
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
