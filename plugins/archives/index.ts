// Unpacks archives for plugins that install programs, in a child process with the rights of the user who gets the
// files.
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
      // Unpacking has no deadline. A silent child is killed, and the caller's signal aborts it.
      { deadlinesMs: { unpack: Number.POSITIVE_INFINITY }, mayFail: true },
    );
  },
});
