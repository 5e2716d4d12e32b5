// A stop that comes after a start or restart was asked for cancels it, however little of it is done by then.
import t from 'tap';
import { kid, status } from '../../support/kids.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

/** Asks for a start or restart, then for a stop: at once, or as soon as the process is wanted. */
const RACER = {
  more: `needs: ['process'],`,
  setup: `const supervisor = host.use('process.supervisor')
    host.route({ method: 'POST', path: '/race/{what}/{when}', summary: 'x', async handle ({ params: { what, when } }) {
      const before = supervisor.get('Kid').wanted
      const asked = supervisor[what]('Kid', 'request').then(() => 'done', error => error.message)
      const isWanted = () => supervisor.get('Kid').wanted !== before
      for (let turn = 1; when === 'wanted' && !isWanted(); turn += 1)
        await (turn % 100 === 0 ? new Promise(setImmediate) : undefined)
      await supervisor.stop('Kid')
      return { asked: await asked }
    } })`,
};

for (const what of ['start', 'restart'])
  for (const when of ['at-once', 'wanted'])
    t.test(`a ${what} and a stop, ${when}`, async t => {
      const app = await startWithPlugins(
        t,
        { racer: RACER },
        { shipped: ['process'], config: { kid: kid('Kid', ['calm']) } },
      );
      if (what === 'restart') await app.post('/process/start-service', { process_name: 'Kid' });
      const { body } = await app.post(`/race/${what}/${when}`, {});
      t.match(body.asked, /^(Start|Restart) of Kid was cancelled by a stop; start it again if it is to run$/);
      t.match(await status(app, 'Kid'), { status: 'stopped', restart: { disabled: true } });
    });
