// Unpacks archives for whatever installs programs, in a program of its own with the rights of whoever gets the files.
import { definePlugin } from '#core';
import type {} from './contract.ts';

export default definePlugin({
  name: 'archives',
  host: '^1',

  setup(host) {
    host.provide(
      'archives',
      {
        async unpack(unpacking) {
          const { unpack } = await import('./unpack.ts');
          const signal = AbortSignal.any([unpacking.signal, host.signal]);
          return unpack({ ...unpacking, signal });
        },
      },
      // Silence ends it, and the caller's signal.
      { deadlinesMs: { unpack: Number.POSITIVE_INFINITY }, mayFail: true },
    );
  },
});
