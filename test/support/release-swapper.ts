// Does one thing with a folder of releases, and kills itself before or after one of its renames: `swap` or `restore`, the
// configuration directory, the folder, the name of the draft, and the moment.
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const [deed, configDir = '', directory = '', part = '', moment] = process.argv.slice(2);
const rename = fs.rename;
let moments = 0;
const pass = (): void => {
  moments += 1;
  if (moments === Number(moment)) process.kill(process.pid, 'SIGKILL');
};
fs.rename = async (from, to) => {
  pass();
  await rename(from, to);
  pass();
};
syncBuiltinESMExports();
const { openReleases, SWAP } = await import('./releases.ts');
const folder = await openReleases(configDir, directory);
if (deed === 'restore') await folder.restore();
else await folder.swap({ part, files: '', downloads: '', caches: '' }, ...SWAP);
console.log(moments);
