// The facts in a template about a program that is published as releases of a repository.
import { z } from 'zod';
import { Problem } from '#core';
import type { SourceRequest } from '../installs/contract.ts';

const API = 'https://api.github.com';
const NAME = /^\w[\w.-]{0,99}$/;

/** Names of files may hold `{tag}`, `{version}` (the tag without `v`), the names of `words` in braces, and `*`. */
export const githubFacts = z.lazy(() =>
  z.strictObject({
    owner: z.string().describe('replaced by `repo_owner` of the block'),
    repository: z.string().describe('replaced by `repo_name` of the block'),
    privateRepository: z.string().optional().describe('where nightly releases are, which needs a token'),
    assets: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('the file of a release, the first of these that it has; without it the sources are taken'),
    words: z
      .record(z.string(), z.partialRecord(z.enum(['amd64', 'arm64', 'arm']), z.string()))
      .default({})
      .describe('what the publisher calls an architecture, by the names in `assets`'),
    checksums: z.string().optional().describe('file of the release with lines of a sum and the name of a file'),
    topFolder: z.literal(true).optional().describe('whether all of the archive lies in one folder, which is left off'),
    paths: z
      .record(z.string(), z.string())
      .optional()
      .describe('which paths of the archive are wanted, or what a file that is no archive becomes; default: all'),
    api: z
      .url({ protocol: /^https?$/ })
      .default(API)
      .describe('address of the API'),
  }),
);

export type GithubFacts = z.output<typeof githubFacts>;

export interface Repository {
  readonly owner: string;
  readonly name: string;
}

/** The repository that block and facts name. Throws a Problem 400 for a name that no repository can have. */
export function repositoryOf(
  { owner, repository, privateRepository }: GithubFacts,
  request: SourceRequest,
): Repository {
  const { block, selector } = request;
  const chosen = (option: string, usual: string): string => {
    const value = Object.hasOwn(block.block, option) ? block.block[option] : undefined;
    const name = typeof value === 'string' && value.trim() !== '' ? value.trim() : usual;
    if (NAME.test(name)) return name;
    throw new Problem(400, `${JSON.stringify(name.slice(0, 100))} is the name of no repository; correct ${option}`);
  };
  const name = chosen('repo_name', repository);
  const isNightly = selector.kind === 'nightly' && name === repository;
  return { owner: chosen('repo_owner', owner), name: (isNightly ? privateRepository : undefined) ?? name };
}
