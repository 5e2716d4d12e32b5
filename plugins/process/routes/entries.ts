// A process as clients see it: what the configuration says about it and its live status, in wire form.
import { z } from 'zod';
import type { ConfigStore, Host, NamedBlock } from '#core';
import type {} from '../../service-templates/contract.ts';
import type { ProcessStatus } from '../contract.ts';
import type { Supervisor } from '../supervise/supervisor.ts';

const status = z.enum(['running', 'stopped', 'starting', 'stopping', 'unknown']);

const common = {
  name: z.string().describe('display name'),
  process_name: z.string().describe('name used in requests'),
  enabled: z.boolean(),
  version: z.string().nullable().describe('version of the managed program'),
  key: z.string().describe('last element of the path in the configuration'),
  config_key: z.string(),
  repo_url: z.string().nullable(),
  sponsorship_url: z.string().nullable(),
  supports_manual_update: z.boolean(),
  update_status: z.record(z.string(), z.unknown()).nullable(),
  status,
};

export const entrySchema = z.object({
  ...common,
  config: z.record(z.string(), z.unknown()).describe('secrets are masked'),
});

export const detailSchema = z.object({
  ...common,
  config: z.record(z.string(), z.unknown()),
  symlink_backup_status: z.record(z.string(), z.unknown()).nullable(),
  install_info: z.record(z.string(), z.unknown()).nullable(),
  dependency_graph: z.record(z.string(), z.unknown()).optional().describe('with an explicit scope'),
  warning: z.string().optional().describe('why the entry cannot be used as it stands'),
});

export class ProcessEntries {
  readonly #host: Host;
  readonly #supervisor: Supervisor;
  #last:
    | { readonly root: object; readonly revision: number; readonly answer: ReturnType<ProcessEntries['list']> }
    | undefined;

  constructor(host: Host, supervisor: Supervisor) {
    this.#host = host;
    this.#supervisor = supervisor;
  }

  /** Frozen, and the same object until the configuration or a status changes. */
  list(): { readonly processes: z.input<typeof entrySchema>[] } {
    const store = this.#store();
    const root = store.root();
    const { revision } = this.#supervisor;
    if (this.#last?.root !== root || this.#last.revision !== revision) {
      const processes = store
        .blocks()
        .map(block => ({ ...this.#common(block), config: store.masked(block.path) as Record<string, unknown> }));
      this.#last = { root, revision, answer: Object.freeze({ processes }) };
    }
    return this.#last.answer;
  }

  detail(block: NamedBlock): z.input<typeof detailSchema> {
    const store = this.#store();
    const warning = store.disabledBlocks.get(block.processName);
    return {
      ...this.#common(block),
      config: store.shown(block.path) as Record<string, unknown>,
      symlink_backup_status: null,
      install_info: null,
      ...(warning === undefined ? {} : { warning }),
    };
  }

  #store(): ConfigStore {
    return this.#host.use('config.store');
  }

  #common({ processName, configKey, key, path, isHost, block }: NamedBlock) {
    const { repo_owner: owner, repo_name: repository } = block;
    const named = typeof owner === 'string' && typeof repository === 'string' && owner !== '' && repository !== '';
    const current: ProcessStatus = this.#supervisor.get(processName)?.status ?? 'stopped';
    const template = this.#host.find('service.templates')?.get(configKey);
    const kindName = template?.displayName ?? path[0];
    return {
      name: path.includes('instances') ? `${kindName} ${key}` : (template?.displayName ?? processName),
      process_name: processName,
      enabled: block.enabled === true,
      version: isHost ? this.#host.version : null,
      key,
      config_key: configKey,
      repo_url: named ? `https://github.com/${owner}/${repository}` : (template?.links.repository ?? null),
      sponsorship_url: template?.links.sponsorship ?? null,
      supports_manual_update: false,
      update_status: null,
      status: current,
    };
  }
}
