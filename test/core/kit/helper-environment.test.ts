// Which variables of the host's environment reach its helper programs.
import t from 'tap';
import { helperEnvironment } from '../../../core/kit/helper-environment.ts';

t.test('helpers get neither secrets nor certificate authorities that they do not need', async t => {
  // The object itself, because variables that are set in a copy would not reach the process.
  const before = process.env;
  t.teardown(() => {
    process.env = before;
  });
  process.env = { PATH: '/bin', TZ: 'UTC', NODE_EXTRA_CA_CERTS: '/etc/own.pem', SOME_TOKEN: 'word' };
  t.same(helperEnvironment(), { PATH: '/bin', TZ: 'UTC' });
  t.equal(process.env.NODE_EXTRA_CA_CERTS, '/etc/own.pem', 'the host keeps them');
});
