// The contract of plugins can be run for a plugin that only contributes.
import path from 'node:path';
import t from 'tap';
import { holdPlugin } from '../contracts/plugin.ts';
import { testDir } from '../support/directory.ts';

const SIGNAL = `export default { name: 'beside', host: '^1', setup(host) {
  host.contribute('dependency.signal', 'beside', { signal: 'beside_of', classification: 'hard', strength: 'hard_configured',
    description: 'whatever stands in beside', reads: ['beside'], find: () => [] }) } }`;

await holdPlugin(t, path.join(testDir(t, { beside: { 'index.js': SIGNAL } }), 'beside'));
