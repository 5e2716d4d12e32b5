// The routes of updates. Installations go on when the client disconnects.
import { z } from 'zod';
import type { Host, NamedBlock } from '#core';
import { requestedBlock } from '#kit/requested-block';
import { noticesOf, noticesSchema } from './notices.ts';
import { targetOf } from './selection.ts';
import type { UpdateRecords } from './update-records.ts';
import { statusSchema } from './update-result.ts';
import type { Updates } from './updates.ts';

/** Longer than any installation, including the wait for another one. */
const INSTALL_DEADLINE_MS = 12 * 3_600_000;

const nameBody = z.object({ process_name: z.string() });

export function registerRoutes(host: Host, updates: Updates, records: UpdateRecords): void {
  const find = (name: string): NamedBlock => requestedBlock(host.use('config.store'), name);

  host.route({
    method: 'GET',
    path: '/process/update-status',
    summary: 'How the updates of a process stand',
    query: z.object({ process_name: z.string() }),
    response: z.object({ process_name: z.string(), update_status: statusSchema.nullable() }),
    handle({ query }) {
      const block = find(query.process_name);
      return { process_name: block.processName, update_status: updates.standing(block) };
    },
  });

  host.route({
    method: 'POST',
    path: '/process/update-check',
    summary: 'Looks for an update of a process, at most once a minute unless it is forced',
    capability: 'manual_update_check',
    body: nameBody.extend({ force: z.boolean().default(false) }),
    response: statusSchema,
    handle: ({ body }) => updates.check(find(body.process_name), { force: body.force }),
  });

  host.route({
    method: 'POST',
    path: '/process/update-install',
    summary: 'Installs an update of a process, and takes it back when the process does not become ready',
    capability: ['dashboard_bulk_updates', 'update_timing_metrics', 'configured_source_install'],
    body: nameBody.extend({
      allow_override: z.boolean().default(false).describe('install latest once, whatever the block selects'),
      target: z.string().optional().describe('configured, latest, prerelease or nightly'),
    }),
    response: statusSchema,
    deadlineMs: INSTALL_DEADLINE_MS,
    handle({ body }) {
      const block = find(body.process_name);
      const target = body.target === undefined ? undefined : targetOf(body.target);
      return updates.install(block, { target, mayOverride: body.allow_override });
    },
  });

  host.route({
    method: 'GET',
    path: '/process/update-notices',
    summary: 'What people are told of updates: of the product itself, or of everything',
    query: z.object({ scope: z.string().default('project') }),
    response: noticesSchema,
    handle: ({ query }) => noticesOf(host, records, query.scope),
  });

  host.route({
    method: 'POST',
    path: '/process/auto-update/reschedule',
    summary: 'Makes the schedule of the updates of a process anew, from its configuration',
    capability: ['auto_update_start_time', 'auto_update_mode'],
    body: nameBody,
    response: z.object({ status: z.literal('ok'), message: z.string() }),
    handle: ({ body }) => ({ status: 'ok' as const, message: updates.reschedule(find(body.process_name)) }),
  });
}
