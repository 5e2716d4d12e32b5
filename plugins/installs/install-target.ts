// What is installed for a block, and where: the facts of its template with the values of the block.
import path from 'node:path';
import type { NamedBlock } from '#core';
import type { ServiceTemplate } from '../services/contract.ts';

type Fact = NonNullable<ServiceTemplate['install']>;

interface Common {
  readonly block: NamedBlock;
  /** Absolute paths. Without one of them the program is not installed. */
  readonly markers: readonly string[];
}

/** A program that comes with that of another service. */
interface BroughtTarget extends Common {
  readonly kind: 'brought';
  readonly by: NamedBlock;
}

/** A program that a source has. */
export interface OwnTarget extends Common {
  readonly kind: 'own';
  readonly source: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** Absolute path; null for a program that goes into the machine itself. */
  readonly directory: string | null;
  /** Whether the folder is the template's own choice, not that of an option. */
  readonly isGiven: boolean;
  /** Of the markers those in the folder, as paths below it. */
  readonly parts: readonly string[];
  readonly versionFile: string | undefined;
  /** In the order in which they build. */
  readonly builds: readonly { readonly platform: string; readonly facts: Readonly<Record<string, unknown>> }[];
  /** Paths below the folder that builds make anew, also where they are excluded. */
  readonly built: readonly string[];
  readonly maxBytes: number;
}

export type InstallTarget = BroughtTarget | OwnTarget;

const MIB = 2 ** 20;
const MAX_MEGABYTES = 4_096;

/** undefined when the template says nothing of it, or an option that it needs is not set. */
export function installTarget(
  block: NamedBlock,
  templateOf: (configKey: string) => ServiceTemplate | undefined,
  blocks: readonly NamedBlock[],
): InstallTarget | undefined {
  const fact = templateOf(block.configKey)?.install;
  if (fact === undefined) return undefined;
  if ('with' in fact) return broughtTarget(block, fact, templateOf, blocks);
  const fill = filler(block);
  const directory = fact.directory === undefined ? null : path.normalize(fill(fact.directory)).replace(/(?<=.)\/$/, '');
  if (directory !== null && (!path.isAbsolute(directory) || directory === '/' || directory.includes('{')))
    return undefined;
  const markers = fact.markers.map(fill);
  const { platforms } = block.block;
  const named =
    Array.isArray(platforms) && platforms.length > 0 ? platforms.map(String) : Object.keys(fact.build ?? {});
  return {
    kind: 'own',
    block,
    markers: markers.map(marker => path.resolve(directory ?? '/', marker)),
    source: fact.source,
    facts: fact.facts,
    directory,
    isGiven: fact.directory !== undefined && !fact.directory.includes('{'),
    parts: markers.filter(marker => !path.isAbsolute(marker)),
    versionFile: fact.versionFile === undefined ? undefined : fill(fact.versionFile),
    builds: named.map(platform => ({ platform, facts: fact.build?.[platform] ?? {} })),
    built: (fact.built ?? []).map(place => path.normalize(fill(place))),
    maxBytes: (fact.maxMegabytes ?? MAX_MEGABYTES) * MIB,
  };
}

function broughtTarget(
  block: NamedBlock,
  { with: key, markers }: Extract<Fact, { with: string }>,
  templateOf: (configKey: string) => ServiceTemplate | undefined,
  blocks: readonly NamedBlock[],
): BroughtTarget | undefined {
  const candidates = blocks.filter(({ configKey }) => configKey === key);
  const by = candidates.find(candidate => candidate.block.enabled === true) ?? candidates[0];
  const target = by && installTarget(by, templateOf, blocks);
  if (by === undefined || target?.kind !== 'own') return undefined;
  const fill = filler(by);
  return {
    kind: 'brought',
    block,
    by,
    markers: markers.map(marker => path.resolve(target.directory ?? '/', fill(marker))),
  };
}

/** Replaces `{option}` by what the block has; unknown names stay. */
export function filler({ block }: NamedBlock): (text: string) => string {
  return text =>
    text.replaceAll(/\{([A-Za-z_]\w*)\}/g, (whole, name: string) => {
      const value = Object.hasOwn(block, name) ? block[name] : undefined;
      return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : whole;
    });
}
