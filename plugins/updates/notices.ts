// The notices that clients show above their pages: available releases, failures, and installed updates.
import { z } from 'zod';
import { type Host, type NamedBlock, Problem } from '#core';
import { knownVersion } from './present-version.ts';
import { standingResult } from './standing-result.ts';
import { isProject, type UpdateRecords } from './update-records.ts';
import { availableSchema, noticeSchema, type UpdateNotice, webAddress } from './update-result.ts';

const SHOWN = 10;

/** `project` means only the entries of the product itself. */
const SCOPES = ['project', 'all'] as const;

export const noticesSchema = z.object({
  scope: z.enum(SCOPES),
  available: z.array(noticeSchema),
  info: z.array(noticeSchema),
  applied: z.array(noticeSchema),
});

/** Throws a Problem 400 for an unknown scope. */
export function noticesOf(host: Host, records: UpdateRecords, given: string): z.output<typeof noticesSchema> {
  const scope = SCOPES.find(one => one === given);
  if (scope === undefined) throw new Problem(400, "scope must be 'project' or 'all'");
  const blocks = new Map(
    host
      .use('config.store')
      .blocks()
      .map(block => [block.processName, block]),
  );
  const named = (notice: UpdateNotice): UpdateNotice => ({
    ...notice,
    ...namesOf(host, blocks.get(notice.process_name)),
  });
  const isShown = (processName: string) => scope === 'all' || isProject(processName);
  const ofScope = (notices: readonly UpdateNotice[]) => notices.filter(one => isShown(one.process_name)).map(named);
  const available = [...records.results()].flatMap(([processName, known]): UpdateNotice[] => {
    const result = standingResult(known, knownVersion(host, processName));
    if (result.status !== 'update_available' || !blocks.has(processName)) return [];
    const id = `available:${processName}:${result.available_version}`;
    return [{ ...availableSchema.parse({ ...result, type: 'available', process_name: processName }), id }];
  });
  return {
    scope,
    available: ofScope(available),
    info: ofScope(records.info).slice(0, SHOWN),
    applied: ofScope(records.applied).slice(0, SHOWN),
  };
}

function namesOf(host: Host, named: NamedBlock | undefined): Partial<UpdateNotice> {
  if (named === undefined) return {};
  const { configKey, key, path, block } = named;
  const template = host.find('service.templates')?.get(configKey);
  const name = template?.displayName;
  const { repo_owner: owner, repo_name: repository } = block;
  const own = owner && repository ? `https://github.com/${owner}/${repository}` : template?.links.repository;
  return {
    ...(name === undefined ? {} : { display_name: path.includes('instances') ? `${name} ${key}` : name }),
    ...(webAddress.safeParse(own).success ? { repo_url: own as string } : {}),
  };
}
