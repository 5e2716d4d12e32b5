// Checks that this machine has Node.js and the package manager of a program, and says what to do if one is missing.
import { Problem } from '#core';
import { isAtLeast, toolLines, toolVersion } from '#kit/tool-version';
import type { BuildRequest } from '../installs/contract.ts';
import type { NodeFacts, PackageManager } from './facts.ts';

type Asked = Pick<BuildRequest, 'block' | 'user' | 'signal'>;

/** Throws a Problem 400 when Node.js is missing or too old. */
export async function checkNode({ block, ...asking }: Asked, { node: least }: NodeFacts): Promise<void> {
  const version = await toolVersion(['node', '--version'], asking);
  const wanted = least === undefined ? 'Node.js' : `Node.js ${least} or later`;
  const remedy = 'install it from https://nodejs.org, so that the user of the services can run it as node';
  if (version === undefined)
    throw new Problem(400, `${block.processName} needs ${wanted}, which this machine does not have; ${remedy}`);
  if (least !== undefined && !isAtLeast(version, String(least)))
    throw new Problem(400, `${block.processName} needs ${wanted}, but this machine has ${version}; ${remedy}`);
}

/** Programs that can install or run a missing package manager. Releases may contain yarn, which needs `node` only. */
const BRINGERS: Readonly<Record<PackageManager, readonly string[]>> = {
  node: ['node'],
  npm: [],
  pnpm: ['npm', 'corepack'],
  yarn: ['node'],
};

/** Throws a Problem 400 when the machine has neither the package manager nor a program that can provide it. */
export async function checkPackageManager({ block, ...asking }: Asked, manager: PackageManager): Promise<void> {
  const tools = [manager, ...BRINGERS[manager]];
  for (const tool of tools) if (await isThere(tool, asking)) return;
  throw new Problem(
    400,
    `${block.processName} is built with ${manager}, which this machine does not have; install ${tools.join(' or ')}`,
  );
}

export async function isThere(tool: string, asking: Pick<BuildRequest, 'user' | 'signal'>): Promise<boolean> {
  return (await toolLines([tool, '--version'], asking)) !== undefined;
}
