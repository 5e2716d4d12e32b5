// The history of metrics: samples are kept in a SQLite file, and read either whole or as the data of a chart.

import path from 'node:path';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { answer, definePlugin } from '#core';
import { isObject } from '#kit/plain-object';
import { queryBoolean } from '#kit/query-values';
import type {} from '../health/contract.ts';
import type {} from '../metrics/contract.ts';
import { introduce, sampleFile } from './frames.ts';
import { History } from './history.ts';
import { checkPlace } from './place-check.ts';
import { storePoint } from './points.ts';
import { historySections, readSettings } from './settings.ts';
import {
  chartQuery,
  chartSchema,
  chartWindow,
  importSchema,
  introductionQuery,
  samplesQuery,
  samplesSchema,
  samplesWindow,
  storageQuery,
  storageSchema,
  storageToWire,
} from './wire.ts';

const GZIP = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Encoding': 'gzip' };

export default definePlugin({
  name: 'metrics-history',
  host: '^1',
  needs: ['metrics'],

  setup(host) {
    const directory = path.join(host.paths.configDir, 'metrics');
    const sections = historySections(directory);
    host.contribute('config.schema', 'history', { path: ['dumb', 'metrics'], schema: sections.history });
    host.contribute('config.schema', 'storage', { path: ['dumb', 'metrics', 'storage'], schema: sections.storage });
    host.point('metrics.history-store', storePoint);
    const history = new History(host);
    host.provide('metrics.history', history, { mayFail: true });
    host.contribute('health.note', 'metrics-history', {
      text: () => history.fault && `samples of metrics are not kept: ${history.fault}`,
    });
    host.contribute('metrics.introduction', 'history', {
      members: (kind, query) => introduce(history, kind, introductionQuery(query)),
    });

    host.route({
      method: 'GET',
      path: '/metrics/history',
      compress: true,
      summary: 'Samples as they were, the newest within a window',
      query: samplesQuery,
      response: samplesSchema,
      async handle({ query }) {
        return answer(Readable.from(await sampleFile(history, samplesWindow(query))), { headers: GZIP });
      },
    });
    host.route({
      method: 'GET',
      path: '/metrics/history_series',
      compress: true,
      summary: 'The data of a chart: one sample for each bucket of time, curves, and the extremes of all samples',
      query: chartQuery,
      response: chartSchema,
      handle: async ({ query }) => answer(await history.chart(chartWindow(query)), { headers: GZIP }),
    });
    host.route({
      method: 'GET',
      path: '/metrics/history/storage',
      summary: 'Where the history is kept, and how much of it there is',
      capability: 'metrics_history_storage',
      query: storageQuery,
      response: storageSchema,
      handle: ({ query }) => storageToWire(history, query),
    });
    host.route({
      method: 'POST',
      path: '/metrics/history/migrate',
      summary: 'Imports the files of an earlier program',
      query: z.object({ force: queryBoolean().default(false) }),
      response: importSchema,
      handle: ({ query }) => history.import(query.force),
    });
    const settingsOf = ({ dumb }: Readonly<Record<string, unknown>>) =>
      readSettings(isObject(dumb) ? dumb.metrics : undefined, directory);
    host.tap('config.check', ({ before, after }) => {
      // Without a login clients may not change the place, and must not learn whether a directory is there.
      if (host.find('access')?.enabled() === true) return checkPlace(settingsOf(before), settingsOf(after));
    });
    host.tap('host.ready', () => history.start());
    host.tap('config.changed', ({ paths }) => {
      if (paths.some(changed => changed.startsWith('dumb.metrics'))) return history.changed();
    });
    return () => history.close();
  },
});
