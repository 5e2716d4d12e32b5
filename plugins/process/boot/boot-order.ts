// Derives the boot order from waits in the configuration, where no plugin provides an order.
import type { ContributionList, Logger, NamedBlock } from '#core';
import { PORT_KEYS } from '#kit/block-ports';
import type { BootDependencies } from '../contract.ts';
import { blocksNamed, dependenciesOf } from '../launch/depends-on.ts';

export interface BootOrder {
  /** The process names after which each process starts; cycles are broken in file order. */
  readonly needs: ReadonlyMap<string, ReadonlySet<string>>;
  /** The members of each cycle that was broken. */
  readonly cycles: readonly (readonly string[])[];
}

/**
 * The order of the first plugin that gives one, otherwise that of the configured waits. A plugin that fails must not
 * prevent starts or stops.
 */
export async function orderOf(
  blocks: readonly NamedBlock[],
  dependencies: ContributionList<BootDependencies>,
  log: Logger,
): Promise<BootOrder> {
  for (const { owner, value: graph } of dependencies) {
    try {
      return await graph.startOrder();
    } catch (error) {
      log.error(`${owner} cannot give the order of starts and stops; somebody else decides it`, error);
    }
  }
  return orderByWaits(blocks);
}

function orderByWaits(blocks: readonly NamedBlock[]): BootOrder {
  const wanted = new Map(blocks.map(block => [block.processName, new Set(configuredDependencies(block, blocks))]));
  const needs = new Map<string, Set<string>>();
  const cycles: string[][] = [];
  // Visited from last to first, so that the member of a cycle that comes first in the file starts first.
  for (const { processName } of [...blocks].reverse()) {
    const accepted = new Set<string>();
    needs.set(processName, accepted);
    for (const other of wanted.get(processName) ?? []) {
      if (other === processName || !wanted.has(other)) continue;
      const path = pathBetween(other, processName, needs);
      if (path === undefined) accepted.add(other);
      else cycles.push([processName, ...path.slice(0, -1)]);
    }
  }
  return { needs, cycles };
}

/**
 * Processes named by `depends_on` and `wait_for_url`, and processes that listen on a local port for which a wait is
 * configured.
 */
function configuredDependencies(named: NamedBlock, blocks: readonly NamedBlock[]): string[] {
  const { processName, block } = named;
  const stated = dependenciesOf(named).flatMap(({ name }) => blocksNamed(name, blocks));
  const urls = listOf(block.wait_for_url).map(entry =>
    typeof entry === 'string' ? { url: entry } : (entry as Record<string, unknown>),
  );
  const tcp = listOf(block.wait_for_tcp) as Record<string, unknown>[];
  const answering = urls.map(entry => entry.process_name).filter(name => typeof name === 'string');
  const ports = new Set([...urls.map(entry => localPort(entry.url)), ...tcp.map(entry => entry.port)]);
  const listeners = blocks.filter(other => PORT_KEYS.some(key => ports.has(other.block[key])));
  return [...answering, ...[...stated, ...listeners].map(other => other.processName)].filter(
    name => name !== processName,
  );
}

function localPort(url: unknown): number | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) return undefined;
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function pathBetween(
  from: string,
  to: string,
  needs: ReadonlyMap<string, ReadonlySet<string>>,
  seen = new Set<string>(),
): string[] | undefined {
  if (from === to) return [to];
  if (seen.has(from)) return undefined;
  seen.add(from);
  for (const next of needs.get(from) ?? []) {
    const rest = pathBetween(next, to, needs, seen);
    if (rest !== undefined) return [from, ...rest];
  }
  return undefined;
}
