// The contract of plugins can be run for a plugin that only contributes.
import path from 'node:path';
import t, { type Test } from 'tap';
import { holdPlugin } from '../contracts/plugin.ts';
import { testDir } from '../support/directory.ts';

const SIGNAL = `export default { name: 'beside', host: '^1', setup(host) {
  host.contribute('dependency.signal', 'beside', { signal: 'beside_of', classification: 'hard', strength: 'hard_configured',
    description: 'whatever stands in beside', reads: ['beside'], find: () => [] }) } }`;

const told: unknown[] = [];
const test = (name: string, work: (t: Test) => Promise<void>) =>
  t.test(name, inner => {
    // Looked at below rather than reported, because the suite counts what it skips.
    inner.ok = (_, ...extra) => told.push(extra) > 0;
    return work(inner);
  });
await holdPlugin({ test } as unknown as Test, path.join(testDir(t, { beside: { 'index.js': SIGNAL } }), 'beside'));
t.match(told, [['its routes answer', { skip: /no GET route/ }]], 'what there is not counts as skipped, not as passed');
