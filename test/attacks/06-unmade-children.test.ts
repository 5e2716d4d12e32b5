// Line 6: children of the host for which no descriptor is left, which Node gives no pipes: their owners fail in their
// usual way, nothing is left waiting, and what was asked for is asked again.
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { usingUp } from '../support/used-up.ts';

t.test('a look at a log fails, and the next one does not', async t => {
  const file = path.join(testDir(t, { 'app.log': 'database is locked\n' }), 'app.log');
  const looks = await usingUp(`
    const { FileLook } = await load('plugins/database-health/look.ts')
    const files = new FileLook()
    const look = () => files.log('App', { file: ${JSON.stringify(file)}, known: null, tailBytes: 1000 })
    useUp(2)
    const looks = [await look()]
    release()
    looks.push(await look())
    files.close()
    return looks`);
  t.match(looks, [{ error: 'The look at it failed' }, { isNew: true }]);
});
