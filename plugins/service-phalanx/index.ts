// Phalanx DB: starts the newest of its scripts.
import { definePlugin } from '#core';
import { listNames } from '#kit/fs-out-of-process';
import { findLevel } from '#kit/log-level';
import type {} from '../setup/contract.ts';

const KEY = 'phalanx_db';
const SCRIPT = /^phalanx_db_rest_v(\d+)\.js$/;

export default definePlugin({
  name: 'service-phalanx',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('service.program', KEY, {
      configKey: KEY,
      async choose({ plan, isTemplates, block }) {
        plan.env.DEBUG ??= String(findLevel(String(block.block.log_level)) === 'DEBUG');
        if (!isTemplates || plan.cwd === undefined) return;
        const script = newest(await listNames(plan.cwd));
        if (script !== undefined) plan.argv = [plan.argv[0] ?? 'node', script];
      },
    });
  },
});

function newest(names: readonly string[]): string | undefined {
  const version = (name: string): number => Number(SCRIPT.exec(name)?.[1] ?? -1);
  const [first] = names.filter(name => SCRIPT.test(name)).sort((a, b) => version(b) - version(a));
  return first;
}
