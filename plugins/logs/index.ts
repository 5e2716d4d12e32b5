// Logs: pages of every process's log, the own log as a live stream, and the log level at run time.
import { answer, definePlugin, type Host, Problem } from '#core';
import { isObject } from '#kit/plain-object';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type {} from './contract.ts';
import { checkLogFiles, findLogFile, misplacedLog } from './log-files.ts';
import { LogPages } from './log-page.ts';
import type { LogPlaces } from './log-places.ts';
import { LogStream } from './log-stream.ts';
import { openRotated } from './rotated-files.ts';
import { keysBeforeFile, restOf } from './rotated-rest.ts';
import * as wire from './wire.ts';

export default definePlugin({
  name: 'logs',
  host: '^1',

  setup(host) {
    const hub = host.use('log.hub');
    const pages = new LogPages();
    const placesNow = () => placesOf(host, host.use('config.store').root());
    const find = (name: string) => {
      const templates = host.find('service.templates');
      return findLogFile(name, { store: host.use('config.store'), hub, templates, places: placesNow() });
    };
    const answers = new wire.PageAnswers();

    host.route({
      method: 'GET',
      path: '/logs',
      summary: 'A piece of the log of a process: the end first, then what came after the cursor',
      query: wire.pageQuery,
      response: wire.pageAnswer,
      async handle({ query: { process_name: name, cursor, tail_bytes: tailBytes, file_id: fileId, rest } }) {
        if (name.trim() === '') throw new Problem(400, 'process_name is required');
        const found = find(name);
        const request = { cursor, tailBytes, fileId, ownLog: found.own };
        const page = await pages.read(found.open, request, id => keysBeforeFile(found.open, id, found.access));
        const known = answers.of(page, found.processName, cursor === undefined);
        if (rest === undefined || cursor === undefined || fileId === undefined) return answer(known);
        if (page.fileId === null || page.fileId === fileId) return answer(known);
        const present = await found.open();
        if (present === null) return answer(known);
        const set = await openRotated(present, 0, found.access);
        return answer({ ...known, rest: await restOf(set, fileId, cursor, tailBytes) });
      },
    });

    host.provide(
      'log.files',
      {
        async openSet(processName, sinceMs) {
          const { open, access } = find(processName);
          const present = await open();
          return present === null ? null : openRotated(present, sinceMs, access);
        },
      },
      { mayFail: true },
    );
    host.tap('config.check', ({ before, after }) => checkLogFiles(before, after, placesOf(host, after), hub));
    host.tap('config.review', async ({ problems }) => {
      const places = placesNow();
      for (const named of host.use('config.store').blocks()) {
        const problem = named.block.enabled === true ? await misplacedLog(named, places, hub) : undefined;
        if (problem !== undefined) problems.push(problem);
      }
    });
    host.tap('process.launched', async ({ processName }) => {
      const named = host.use('config.store').findBlock(processName);
      const misplaced = named && (await misplacedLog(named, placesNow(), hub));
      if (misplaced !== undefined) host.log.warn(misplaced);
    });

    new LogStream(host, hub);

    const levels = () => wire.levelsToWire(hub);
    host.route({
      method: 'GET',
      path: '/process/runtime-log-level',
      summary: 'The level of the own log, as configured and in force',
      capability: 'runtime_api_log_level',
      response: wire.levelsAnswer,
      handle: levels,
    });
    host.route({
      method: 'POST',
      path: '/process/runtime-log-level',
      summary: 'Switches DEBUG on or off until the next restart',
      capability: 'runtime_api_log_level',
      body: wire.levelsBody,
      response: wire.levelsAnswer,
      handle({ body }) {
        hub.overrideDebug(body.debug_enabled);
        return levels();
      },
    });
    return () => hub.overrideDebug(false);
  },
});

function placesOf(host: Host, root: Readonly<Record<string, unknown>>): LogPlaces {
  const { data_root: dataRoot, dumb, puid, pgid } = root;
  const service = isObject(dumb) && isObject(dumb.api_service) ? dumb.api_service : {};
  const { file_roots: fileRoots } = service;
  const usual = process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
  return {
    ...host.paths,
    roots: [dataRoot, ...(Array.isArray(fileRoots) ? fileRoots : [])],
    templateBlock({ configKey, key }) {
      const templates = host.find('service.templates');
      const template = templates?.get(configKey);
      return template === undefined ? undefined : templates?.block(template, key);
    },
    userOf: block => (block && host.find('process.supervisor')?.userOf(block)) ?? usual,
  };
}
