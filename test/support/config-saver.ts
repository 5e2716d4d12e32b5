// A program that saves the configuration again and again until it is killed. It prints `ready` before the first save.
import { openConfig } from '../../core/config/open.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const [configDir = '', first = '0'] = process.argv.slice(2);
const { store } = await openConfig({ configDir, log: quiet, env: {} });
console.log('ready');
for (let count = Number(first); ; count += 1) {
  const filler = String(count).repeat(20_000);
  await store.update({ updates: { dumb: { count, filler } }, persist: true, actor: 'test' });
}
