// Swaps or restores a folder of releases in a process that kills itself before or after one of its renames, or for
// which one rename fails as on a full disk. Arguments: `swap` or `restore`, configuration directory, folder, name of
// the draft, number of the moment, and `refused` for the failure.
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const [deed, configDir = '', directory = '', part = '', moment, fate] = process.argv.slice(2);
const rename = fs.rename;
let moments = 0;
const pass = (): void => {
  moments += 1;
  if (moments !== Number(moment)) return;
  if (fate === 'refused') throw Object.assign(new Error('ENOSPC: no space left on device, rename'), { code: 'ENOSPC' });
  process.kill(process.pid, 'SIGKILL');
};
fs.rename = async (from, to) => {
  pass();
  await rename(from, to);
  pass();
};
syncBuiltinESMExports();
const { openReleases, SWAP } = await import('./releases.ts');
const folder = await openReleases(configDir, directory);
const draft = { part, files: '', downloads: '', caches: '' };
const done = deed === 'restore' ? folder.restore() : folder.swap(draft, ...SWAP);
const refusal = await done.then(
  () => null,
  ({ message }: Error) => message,
);
console.log(JSON.stringify({ refusal, isCutOff: folder.record.swap !== null }));
