// The routes of migrations, which are the same under both prefixes.
import { type Host, Problem } from '#core';
import { jobSchema } from './job.ts';
import type { JobFiles } from './job-files.ts';
import type { Migrations } from './migrations.ts';
import { latestAnswer, processQuery, reportSchema, rollbackBody, startAnswer, startBody, statusQuery } from './wire.ts';

/** The second prefix serves older clients. */
const PREFIXES = [
  { prefix: '/process/postgres-migration', flag: 'postgres_migration' },
  { prefix: '/process/arr-postgres-migration', flag: 'arr_postgres_migration' },
];

interface Answering {
  readonly files: JobFiles;
  readonly migrations: () => Promise<Migrations>;
}

export function registerRoutes(host: Host, { files, migrations }: Answering): void {
  for (const { prefix, flag } of PREFIXES) {
    host.route({
      method: 'GET',
      path: `${prefix}/preflight`,
      summary: 'Whether a service can be moved from SQLite to PostgreSQL now; nothing is changed',
      query: processQuery,
      response: reportSchema,
      handle: async ({ query }) => (await migrations()).report(query.process_name),
    });
    host.route({
      method: 'POST',
      path: `${prefix}/start`,
      summary: 'Begins a rehearsal, or the move itself',
      capability: [flag, `${flag}_rehearsal`],
      body: startBody,
      response: startAnswer,
      async handle({ body }) {
        const { job_id, process_name, mode } = await (await migrations()).start(body);
        return { status: 'queued' as const, job_id, process_name, mode };
      },
    });
    host.route({
      method: 'GET',
      path: `${prefix}/status`,
      summary: 'A migration, while it is under way and afterwards',
      query: statusQuery,
      response: jobSchema,
      handle({ query }) {
        const job = files.get(query.job_id)?.job;
        const isAsked = query.process_name === undefined || query.process_name === job?.process_name;
        if (job === undefined || !isAsked) throw new Problem(404, 'There is no migration with this job_id');
        return job;
      },
    });
    host.route({
      method: 'GET',
      path: `${prefix}/latest`,
      summary: 'The migration of a service that was changed last',
      query: processQuery,
      response: latestAnswer,
      handle: ({ query }) => {
        const name = query.process_name;
        if (name.trim() === '') throw new Problem(400, 'process_name is blank; name a process.');
        return { job: files.list(name)[0]?.job ?? null };
      },
    });
    host.route({
      method: 'POST',
      path: `${prefix}/rollback`,
      summary: 'Brings a service that was moved back to its SQLite files',
      capability: `${flag}_rollback`,
      body: rollbackBody,
      response: jobSchema,
      // Goes on when the client disconnects.
      handle: async ({ body }) => (await migrations()).rollBack(body.job_id, body.confirmation),
    });
  }
}
