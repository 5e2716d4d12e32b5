// A process as clients see it: its configuration, its live status, and what other plugins add.
import { z } from 'zod';
import type { ConfigProblem, ConfigStore, Host, NamedBlock, ResponseBody } from '#core';
import { turnWithTime } from '#kit/turns';
import { unknownProcess } from '#kit/unknown-process';
import type {} from '../../services/contract.ts';
import type { ProcessStatus, ProcessSupervisor } from '../contract.ts';
import { ContributedMembers } from './contributed-members.ts';
import { holdSchema } from './status-wire.ts';

/** How many problems of one process its entry names. */
const MAX_PROBLEMS = 10;

/** How many entries are made between two looks whether other work waits. */
const PIECE = 50;
const MAX_ATTEMPTS = 3;

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

interface ListAnswer {
  readonly processes: readonly Entry[];
}

/** What a list is made from; `members` is null when they may change at any time. */
interface Basis {
  readonly blocks: readonly NamedBlock[];
  readonly revision: number;
  readonly members: readonly unknown[] | null;
}

export class ProcessEntries {
  readonly #host: Host;
  readonly #supervisor: ProcessSupervisor;
  readonly #members: ContributedMembers;
  #kept: { readonly basis: Basis; readonly answer: ListAnswer } | undefined;
  #making: { readonly basis: Basis; readonly answer: Promise<ListAnswer> } | undefined;
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
  list(): ListAnswer | Promise<ListAnswer> {
    const basis = this.#basis();
    if (isSame(this.#kept?.basis, basis) && this.#kept !== undefined) return this.#kept.answer;
    if (isSame(this.#making?.basis, basis) && this.#making !== undefined) return this.#making.answer;
    const making = { basis, answer: this.#listOf(basis) };
    this.#making = making;
    return making.answer.finally(() => {
      if (this.#making === making) this.#making = undefined;
    });
  }

  #basis(): Basis {
    return {
      blocks: this.#supervisor.blocks(),
      revision: this.#supervisor.revision,
      members: this.#members.revision(),
    };
  }

  /** Begins anew after a change of the configuration. The last time the list is made in one piece, so that it ends. */
  async #listOf(basis: Basis): Promise<ListAnswer> {
    let current = basis;
    for (let attempt = 1; ; attempt += 1) {
      const processes = await this.#entriesOf(current.blocks, attempt < MAX_ATTEMPTS ? PIECE : current.blocks.length);
      const now = this.#basis();
      if (processes !== undefined) {
        const answer = Object.freeze({ processes });
        if (isSame(current, now)) this.#kept = { basis: current, answer };
        return answer;
      }
      current = now;
    }
  }

  /** undefined when the configuration changes meanwhile. */
  async #entriesOf(blocks: readonly NamedBlock[], piece: number): Promise<readonly Entry[] | undefined> {
    const processes: Entry[] = [];
    for (const block of blocks) {
      if (processes.length > 0 && processes.length % piece === 0) await turnWithTime();
      if (this.#supervisor.blocks() !== blocks) return undefined;
      processes.push(this.#entry(block));
    }
    return processes;
  }

  #entry(block: NamedBlock): Entry {
    return { ...this.#common(block), config: this.#config(this.#store().masked(block.path), block) };
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

function isSame(before: Basis | undefined, now: Basis): boolean {
  if (before?.blocks !== now.blocks || before.revision !== now.revision) return false;
  const [known, members] = [before.members, now.members];
  if (known === null || members === null || known.length !== members.length) return false;
  return members.every((value, index) => Object.is(value, known[index]));
}
