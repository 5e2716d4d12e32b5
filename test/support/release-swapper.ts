// Does one thing with a folder of releases, and kills itself before or after one of its renames, or has one refused as
// on a full disk: `swap` or `restore`, the configuration directory, the folder, the name of the draft, the moment, and
// `refused`.
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
