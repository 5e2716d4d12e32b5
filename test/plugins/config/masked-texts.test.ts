// Texts and commands that hold credentials beside other things, as clients are shown them and send them back.
import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { entryOf, openWith, sleeper } from '../../support/configured.ts';

const MASK = '********';
const [PROGRAM] = sleeper('Kid').command as readonly string[];
const command = [
  ...[PROGRAM, '--url=https://user:pass@host/x', '--api-key=abcdef123456', '--password', 'a b', '--port', '80'],
  ...['--header', 'Authorization: Bearer abcdefgh', '--token-file', '/run/token', '--secret=$KID_SECRET'],
];
const env = {
  DATABASE: 'postgres://u:p@h/db',
  OPTIONS: '-v postgres://u:p@h/db --password abc --ssl-key=/etc/kid/key.pem',
  CONTACT: 'ann@example.org, server_id=3, see http://ann@example.org/',
};

async function openMasked(t: Test) {
  const { app, file } = await openWith(t, { kid: sleeper('Kid', { enabled: false, command, env }) }, [
    'config',
    'process',
  ]);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } }, persist: false });
  return {
    app,
    shown: async () => (await app.get('/config?process_name=Kid')).body,
    send: async (updates: object) => app.post('/config', { process_name: 'Kid', updates, persist: true }),
    inFile: async () => JSON.parse(await readFile(file, 'utf8')).kid,
  };
}

t.test('the credentials in texts are hidden, and nothing else', async t => {
  const { app, shown } = await openMasked(t);
  const masked = await shown();
  t.same(masked.command, [
    ...[PROGRAM, `--url=https://${MASK}@host/x`, `--api-key=${MASK}`, '--password', MASK, '--port', '80'],
    ...['--header', `Authorization: ${MASK}`, '--token-file', '/run/token', '--secret=$KID_SECRET'],
  ]);
  t.same(masked.env, {
    ...env,
    DATABASE: `postgres://${MASK}@h/db`,
    OPTIONS: `-v postgres://${MASK}@h/db --password ${MASK} --ssl-key=/etc/kid/key.pem`,
  });
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: false } } }, persist: false });
  t.same((await shown()).command, command);
  const listed = (await entryOf(app, 'Kid')) as { readonly config: { readonly command: unknown } };
  t.same(listed.config.command, masked.command, 'the list of processes always hides them');
});

t.test('a masked text that is sent back keeps what the file has', async t => {
  const { shown, send, inFile } = await openMasked(t);
  const masked = await shown();
  const sent = [...masked.command.slice(0, 1), '--verbose', ...masked.command.slice(1)];
  const answer = await send({ command: sent, env: { ...masked.env, MODE: 'calm' } });
  t.equal(answer.status, 200, answer.text);
  t.match(await inFile(), { command: [PROGRAM, '--verbose', ...command.slice(1)], env: { ...env, MODE: 'calm' } });
});

t.test('a text that was changed beside its masks is refused', async t => {
  const { shown, send, inFile } = await openMasked(t);
  const masked = await shown();
  const changes = [
    { command: masked.command.map((word: string) => word.replace('--api-key=', '--api-key=x')) },
    { env: { ...masked.env, OPTIONS: masked.env.OPTIONS.replace('-v', '-q') } },
  ];
  for (const updates of changes)
    t.match(await send(updates), { status: 400, body: { detail: /hides credentials; write them out/ } });
  t.match(await inFile(), { command, env });
});
