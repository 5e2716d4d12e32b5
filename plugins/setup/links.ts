// Makes the links that a service expects among its files, as the user of the services, who alone may be allowed to
// write there.
import path from 'node:path';
import { Problem } from '#core';
import { fileVersion, runChild } from '#kit/fs-out-of-process';
import type { ServiceTemplate } from '../services/contract.ts';
import type { SetupContext } from './contract.ts';

type Link = NonNullable<NonNullable<ServiceTemplate['setup']>['links']>[number];

const LIMIT_MS = 5_000;

/** Keeps a file that is already there. Throws a Problem 500 when the link cannot be made. */
export async function ensureLink({ path: place, to, makes }: Link, context: SetupContext): Promise<void> {
  const link = context.fill(place);
  if ((await fileVersion(link)) !== null) return;
  if (makes === true) await context.makeDirectory(path.join(path.dirname(link), to));
  // A link that leads nowhere is replaced.
  const { code } = await runChild('ln', ['-sfn', '--', to, link], LIMIT_MS, context.owner ?? undefined);
  if (code !== 0)
    throw new Problem(500, `${context.block.processName} cannot start: the link ${link} to ${to} cannot be made`);
}
