// Riven's variables that follow from the components attached to it: provider keys, and where its files are mounted.
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import type {} from '../service-setup/contract.ts';
import type {} from '../service-templates/contract.ts';

const KEY = 'riven_backend';
const VARIABLES: Readonly<Record<string, string>> = {
  realdebrid: 'RIVEN_DOWNLOADERS_REAL_DEBRID_API_KEY',
  alldebrid: 'RIVEN_DOWNLOADERS_ALL_DEBRID_API_KEY',
  debridlink: 'RIVEN_DOWNLOADERS_DEBRID_LINK_API_KEY',
  torbox: 'RIVEN_DOWNLOADERS_TORBOX_API_KEY',
};

export default definePlugin({
  name: 'setup-riven',
  host: '^1',
  after: ['service-setup'],

  setup(host) {
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ plan }) {
        const templates = host.use('service.templates');
        const blocks = host.find('process.supervisor')?.blocks() ?? [];
        const attached = blocks.filter(({ block }) => block.enabled === true && templates.linksOf(block).includes(KEY));
        for (const { block } of attached) {
          const provider = String(block.key_type ?? '')
            .toLowerCase()
            .replaceAll(/[^a-z0-9]/g, '');
          const variable = VARIABLES[provider];
          if (variable !== undefined && typeof block.api_key === 'string' && block.api_key !== '')
            plan.env[variable] ??= block.api_key;
        }
        const mount = attached.find(({ configKey }) => configKey === 'rclone')?.block;
        if (mount === undefined) return;
        const directory = `${mount.mount_dir}/${mount.mount_name}/__all__`;
        plan.env.RIVEN_SYMLINK_RCLONE_PATH ??= directory;
        plan.env.RIVEN_FILESYSTEM_MOUNT_PATH ??= directory;
      },
    });
  },
});
