// A process as clients see it: its configuration, its live status, and what other plugins add.
import { z } from 'zod';
import type { ConfigProblem, ConfigStore, Host, NamedBlock, ResponseBody } from '#core';
import { unknownProcess } from '#kit/unknown-process';
import type {} from '../../services/contract.ts';
import type { ProcessStatus, ProcessSupervisor } from '../contract.ts';
import { ContributedMembers } from './contributed-members.ts';
import { holdSchema } from './status-wire.ts';

/** How many problems of one process its entry names. */
const MAX_PROBLEMS = 10;

const status = z.enum(['running', 'stopped', 'starting', 'stopping', 'unknown']);
const record = z.record(z.string(), z.unknown());

const own = {
  name: z.string().describe('display name'),
  process_name: z.string().describe('name used in requests'),
  enabled: z.boolean().describe('enabled by the configuration, or started by hand since'),
  version: z.string().nullable().describe('version of the managed program'),
  key: z.string().describe('last element of the path in the configuration'),
  config_key: z.string(),
  repo_url: z.string().nullable(),
  sponsorship_url: z.string().nullable(),
  status,
  held: holdSchema.nullable().describe('why nobody may start or stop it at present'),
  config_problem: z.string().nullable().describe('values of its block that do not fit, and what follows from them'),
  restart_required: z
    .literal(true)
    .optional()
    .describe('it was adopted, and runs by another block than the present one'),
};

const entryShape = z.object({ ...own, config: record.describe('secrets are masked') });
const detailShape = z.object({
  ...own,
  config: record,
  warning: z.string().optional().describe('why the entry cannot be used as it stands, or its output is lost'),
});

type Entry = ResponseBody<typeof entryShape>;
type Detail = ResponseBody<typeof detailShape>;

interface KeptList {
  readonly blocks: object;
  readonly revision: number;
  readonly members: readonly unknown[];
  readonly answer: { readonly processes: readonly Entry[] };
}

export class ProcessEntries {
  readonly #host: Host;
  readonly #supervisor: ProcessSupervisor;
  readonly #members: ContributedMembers;
  #kept: KeptList | undefined;
  #problems: { readonly of: readonly ConfigProblem[]; readonly byName: ReadonlyMap<string, string> } | undefined;

  constructor(host: Host, supervisor: ProcessSupervisor) {
    this.#host = host;
    this.#supervisor = supervisor;
    // Plugins may contribute the version.
    const { version: _open, ...kept } = own;
    this.#members = new ContributedMembers(host, [...Object.keys(kept), 'config', 'warning']);
  }

  listSchema() {
    return z.object({ processes: z.array(this.#members.describe(entryShape, 'entry')) });
  }

  detailSchema() {
    return this.#members.describe(detailShape, 'detail');
  }

  /** Frozen, and the same object until the configuration, a status or a contributed member changes. */
  list(): KeptList['answer'] {
    const blocks = this.#supervisor.blocks();
    const { revision } = this.#supervisor;
    const members = this.#members.revision();
    const kept = this.#kept;
    const isCurrent = kept?.blocks === blocks && kept.revision === revision && areSame(kept.members, members);
    if (kept !== undefined && isCurrent) return kept.answer;
    const store = this.#store();
    const processes = blocks.map(block => ({
      ...this.#common(block),
      config: this.#config(store.masked(block.path), block),
    }));
    const answer = Object.freeze({ processes });
    this.#kept = members === null ? undefined : { blocks, revision, members, answer };
    return answer;
  }

  /** Throws a Problem 404 when the process is no longer in the configuration. */
  async detail(processName: string, scope: string | undefined): Promise<Detail> {
    const block = this.#supervisor.blocks().find(other => other.processName === processName);
    if (block === undefined) throw unknownProcess(processName);
    const store = this.#store();
    const runs = this.#supervisor.get(processName)?.status === 'running';
    const warning = store.disabledBlocks.get(processName) ?? (runs ? this.#supervisor.outputFault : null);
    return {
      ...(await this.#members.ofDetail(block, scope)),
      ...this.#common(block),
      config: this.#config(store.shown(block.path), block),
      ...(warning === null ? {} : { warning }),
    };
  }

  #store(): ConfigStore {
    return this.#host.use('config.store');
  }

  #common(named: NamedBlock) {
    const { processName, configKey, key, path, isHost, block } = named;
    const { repo_owner: owner, repo_name: repository } = block;
    const hasNames = typeof owner === 'string' && typeof repository === 'string' && owner !== '' && repository !== '';
    const snapshot = this.#supervisor.get(processName);
    const current: ProcessStatus = snapshot?.status ?? 'stopped';
    const template = this.#host.find('service.templates')?.get(configKey);
    const kindName = template?.displayName ?? path[0];
    return {
      version: isHost ? this.#host.version : null,
      ...this.#members.ofEntry(named),
      name: path.includes('instances') ? `${kindName} ${key}` : (template?.displayName ?? processName),
      process_name: processName,
      enabled: block.enabled === true,
      key,
      config_key: configKey,
      repo_url: hasNames ? `https://github.com/${owner}/${repository}` : (template?.links.repository ?? null),
      sponsorship_url: template?.links.sponsorship ?? null,
      status: current,
      held: snapshot?.held ?? null,
      config_problem: this.#problemOf(processName),
      ...(snapshot?.restartRequired === true ? { restart_required: true as const } : {}),
    };
  }

  #problemOf(processName: string): string | null {
    const { problems } = this.#store();
    if (this.#problems?.of !== problems) this.#problems = { of: problems, byName: sentencesByName(problems) };
    return this.#problems.byName.get(processName) ?? null;
  }

  /**
   * The block as shown, with `enabled` as the supervisor sees it. An editor that saves the block of a service that is
   * disabled for a bad value must not disable it for good.
   */
  #config(shown: unknown, { processName, block: { enabled } }: NamedBlock): Record<string, unknown> {
    const isOwn = enabled === undefined || this.#store().disabledBlocks.has(processName);
    return { ...(shown as Record<string, unknown>), ...(isOwn ? {} : { enabled }) };
  }
}

/** What does not fit in the block of each process; a list may have thousands of items that do not. */
function sentencesByName(problems: readonly ConfigProblem[]): ReadonlyMap<string, string> {
  const byName = new Map<string, string[]>();
  for (const { processName, message } of problems) {
    if (processName === undefined) continue;
    const messages = byName.get(processName);
    if (messages === undefined) byName.set(processName, [message]);
    else messages.push(message);
  }
  return new Map([...byName].map(([name, messages]) => [name, joined(messages)]));
}

function joined(messages: readonly string[]): string {
  const more = messages.length - MAX_PROBLEMS;
  return [...messages.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`and ${more} more, which the log names`] : [])].join(
    '; ',
  );
}

function areSame(before: readonly unknown[], now: readonly unknown[] | null): boolean {
  return now !== null && now.length === before.length && now.every((value, index) => Object.is(value, before[index]));
}
