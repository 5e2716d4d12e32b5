// What is installed for a block, and where: the facts of its template, filled with the values of the block.
import path from 'node:path';
import type { NamedBlock } from '#core';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';

type Fact = NonNullable<ServiceTemplate['install']>;

interface Common {
  readonly block: NamedBlock;
  /** For each layout that a release can have, its absolute paths. An installed release has all paths of one layout. */
  readonly layouts: readonly (readonly string[])[];
}

/** A program that is installed together with that of another service. */
interface BroughtTarget extends Common {
  readonly kind: 'brought';
  readonly by: NamedBlock;
}

/** A program that is installed from a source. */
export interface OwnTarget extends Common {
  readonly kind: 'own';
  readonly source: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** Absolute path; null for a program that is installed in the machine itself. */
  readonly directory: string | null;
  /** Whether the template alone determines the folder, and no option of the block does. */
  readonly isGiven: boolean;
  /** For each layout, its paths within the folder, relative to it. */
  readonly parts: readonly (readonly string[])[];
  /** The path below the folder that holds the folders of instances; undefined when they have none. */
  readonly ownFolders: string | undefined;
  readonly versionFile: string | undefined;
  /** Address of the release notes, in which `{version}` stands for the number of the release. */
  readonly notes: string | undefined;
  /** The builds in their order. */
  readonly builds: readonly { readonly platform: string; readonly facts: Readonly<Record<string, unknown>> }[];
  /** Paths below the folder that builds replace, even when they are excluded. */
  readonly built: readonly string[];
  readonly maxBytes: number;
}

export type InstallTarget = BroughtTarget | OwnTarget;

const MIB = 2 ** 20;
const MAX_MEGABYTES = 4_096;

type Templates = Pick<ServiceTemplates, 'get' | 'installDirectory'>;

/** undefined when the template has no `install`, or an option that it needs is not set. */
export function installTarget(
  block: NamedBlock,
  templates: Templates,
  blocks: readonly NamedBlock[],
): InstallTarget | undefined {
  const template = templates.get(block.configKey);
  if (template?.install === undefined) return undefined;
  const { install: fact } = template;
  if ('with' in fact) return broughtTarget(block, fact, templates, blocks);
  const fill = filler(block);
  const directory = fact.directory === undefined ? null : folderOf(templates.installDirectory(block));
  if (directory === undefined) return undefined;
  const layouts = [fact.markers, ...(fact.otherMarkers ?? [])].map(markers => markers.map(fill));
  const [ownFolders] = fact.ownDirectory?.split('{') ?? [];
  return {
    kind: 'own',
    block,
    layouts: layouts.map(markers => markers.map(marker => path.resolve(directory ?? '/', marker))),
    source: fact.source,
    facts: fact.facts,
    directory,
    isGiven: fact.directory !== undefined && !fact.directory.includes('{'),
    // A layout without a path in the folder says nothing about a release.
    parts: layouts
      .map(markers => markers.filter(marker => !path.isAbsolute(marker)))
      .filter((parts, place) => place === 0 || parts.length > 0),
    ownFolders: ownFolders && path.relative(directory ?? '/', ownFolders),
    notes: fact.notes && fill(fact.notes),
    versionFile: fact.versionFile === undefined ? undefined : fill(fact.versionFile),
    builds: platformsOf(block, template, fact).map(platform => ({ platform, facts: fact.build?.[platform] ?? {} })),
    built: (fact.built ?? []).map(place => path.normalize(fill(place))),
    maxBytes: (fact.maxMegabytes ?? MAX_MEGABYTES) * MIB,
  };
}

/** The normalised folder; undefined for a path that cannot be the folder of a program. */
function folderOf(place: string | undefined): string | undefined {
  if (place === undefined || !path.isAbsolute(place)) return undefined;
  const folder = path.normalize(place).replace(/(?<=.)\/$/, '');
  return folder === '/' ? undefined : folder;
}

/** The platforms of the block, and those that always build the program because the template does not offer a choice. */
function platformsOf(
  { block: { platforms } }: NamedBlock,
  { block: given }: ServiceTemplate,
  { build = {} }: Extract<Fact, { source: string }>,
): readonly string[] {
  const known = Object.keys(build);
  if (!Array.isArray(platforms) || platforms.length === 0) return known;
  const offered = [given.platforms ?? []].flat();
  const fixed = offered.length === 0 ? [] : known.filter(platform => !offered.includes(platform));
  return [...new Set([...platforms.map(String), ...fixed])];
}

function broughtTarget(
  block: NamedBlock,
  { with: key, markers }: Extract<Fact, { with: string }>,
  templates: Templates,
  blocks: readonly NamedBlock[],
): BroughtTarget | undefined {
  const candidates = blocks.filter(({ configKey }) => configKey === key);
  const by = candidates.find(candidate => candidate.block.enabled === true) ?? candidates[0];
  const target = by && installTarget(by, templates, blocks);
  if (by === undefined || target?.kind !== 'own') return undefined;
  const fill = filler(by);
  return {
    kind: 'brought',
    block,
    by,
    layouts: [markers.map(marker => path.resolve(target.directory ?? '/', fill(marker)))],
  };
}

/** Replaces `{option}` by the value in the block; unknown names stay. */
export function filler({ block }: NamedBlock): (text: string) => string {
  return text =>
    text.replaceAll(/\{([A-Za-z_]\w*)\}/g, (whole, name: string) => {
      const value = Object.hasOwn(block, name) ? block[name] : undefined;
      return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : whole;
    });
}
