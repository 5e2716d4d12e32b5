// Phalanx DB: starts the newest of its scripts, and keeps its data out of the folder that an update clears.
import path from 'node:path';
import { definePlugin } from '#core';
import { fileVersion, listNames, runChild } from '#kit/fs-out-of-process';
import type {} from '../setup/contract.ts';

const KEY = 'phalanx_db';
const SCRIPT = /^phalanx_db_rest_v(\d+)\.js$/;
/** Folders of its data, which it looks for beside its scripts. */
const DATA = ['db_data', 'p2p-db-storage', 'logs', 'autobase_storage_v4'];
const LINK_LIMIT_MS = 5_000;

export default definePlugin({
  name: 'service-phalanx',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('service.program', KEY, {
      configKey: KEY,
      async choose({ plan, isTemplates, block }) {
        plan.env.DEBUG ??= String(block.block.log_level === 'DEBUG');
        if (!isTemplates || plan.cwd === undefined) return;
        const script = newest(await listNames(plan.cwd));
        if (script !== undefined) plan.argv = [plan.argv[0] ?? 'node', script];
      },
    });
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ plan: { cwd }, owner, makeDirectory }) {
        if (cwd === undefined) return;
        for (const name of DATA) {
          const link = path.join(cwd, name);
          // What is there already, its owner has put there.
          if ((await fileVersion(link)) !== null) continue;
          await makeDirectory(path.join(cwd, 'data', name));
          await runChild('ln', ['-s', '--', path.join('data', name), link], LINK_LIMIT_MS, owner ?? undefined);
        }
      },
    });
  },
});

function newest(names: readonly string[]): string | undefined {
  const version = (name: string): number => Number(SCRIPT.exec(name)?.[1] ?? -1);
  const [first] = names.filter(name => SCRIPT.test(name)).sort((a, b) => version(b) - version(a));
  return first;
}
