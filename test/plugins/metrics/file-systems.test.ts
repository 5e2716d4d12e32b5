// How full a file system is counts for some seconds, because a look at it starts a program.
import t from 'tap';
import { FileSystems } from '../../../plugins/metrics/file-systems.ts';
import { until } from '../../support/until.ts';

t.test('what is known of a path is kept for a while, and looked at again then', async t => {
  const fileSystems = new FileSystems();
  t.teardown(() => fileSystems.close());
  const [first] = await fileSystems.read(['/']);
  t.match(first, { path: '/', available: true });
  const [again, other] = await fileSystems.read(['/', '/proc']);
  t.equal(again, first);
  t.match(other, { path: '/proc', available: true }, 'a path that is new is looked at at once');
  await until(async () => (await fileSystems.read(['/']))[0] !== first);
});
