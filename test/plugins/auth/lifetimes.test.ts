// How long tokens are valid: as environment variables say, and by default when a variable is invalid.
import { existsSync } from 'node:fs';
import path from 'node:path';
import jwt from 'jsonwebtoken';
import t, { type Test } from 'tap';
import { pluginsDir, startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const skip = !existsSync(path.join(pluginsDir, 'auth'));
const OWNER = { username: 'owner', password: 'correct horse' };

/** Lifetimes of both kinds of tokens in seconds, and the host. */
async function lifetimes(t: Test, minutes: string, days: string) {
  Object.assign(process.env, { JWT_ACCESS_TOKEN_EXPIRE_MINUTES: minutes, JWT_REFRESH_TOKEN_EXPIRE_DAYS: days });
  t.teardown(() => {
    delete process.env.JWT_ACCESS_TOKEN_EXPIRE_MINUTES;
    delete process.env.JWT_REFRESH_TOKEN_EXPIRE_DAYS;
  });
  const app = await startHost({ plugins: ['auth', 'config'] });
  t.teardown(() => app.stop());
  const { body } = await app.post('/auth/setup', OWNER);
  const seconds = (token: string): number => {
    const { iat = 0, exp = 0 } = jwt.decode(token) as jwt.JwtPayload;
    return exp - iat;
  };
  return { app, access: seconds(body.access_token), refresh: seconds(body.refresh_token) };
}

t.test('tokens are valid for as long as the environment says', { skip }, async t => {
  t.match(await lifetimes(t, '5', '2'), { access: 300, refresh: 2 * 86_400 });
});

t.test('an invalid lifetime is logged, and the default applies', { skip }, async t => {
  const { app, access, refresh } = await lifetimes(t, '2h', '366');
  t.same([access, refresh], [3_600, 30 * 86_400]);
  for (const line of [
    'JWT_ACCESS_TOKEN_EXPIRE_MINUTES must be a whole number from 1 to 1440, so 60 counts',
    'JWT_REFRESH_TOKEN_EXPIRE_DAYS must be a whole number from 1 to 365, so 30 counts',
  ])
    t.ok(await until(async () => (await ownLog(app)).some(text => text.includes(line)), { what: line }));
});
