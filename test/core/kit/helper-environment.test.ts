// What the helper programs of the product are told of the host's environment.
import t from 'tap';
import { helperEnvironment } from '../../../core/kit/helper-environment.ts';

t.test('helpers get neither secrets nor authorities that they have no use for', async t => {
  // Not a copy, which would be no environment of the process any more: what is set in it reaches nobody.
  const before = process.env;
  t.teardown(() => {
    process.env = before;
  });
  process.env = { PATH: '/bin', TZ: 'UTC', NODE_EXTRA_CA_CERTS: '/etc/own.pem', SOME_TOKEN: 'word' };
  t.same(helperEnvironment(), { PATH: '/bin', TZ: 'UTC' });
  t.equal(process.env.NODE_EXTRA_CA_CERTS, '/etc/own.pem', 'the host keeps them');
});
