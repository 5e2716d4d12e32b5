// Tests the contract of every plugin, and the route of this one.
import { holdPlugin } from 'stackwarden/contracts';
import t from 'tap';

const folder = new URL('..', import.meta.url);

await holdPlugin(t, folder, async (t, { base }) => {
  const answer = await fetch(`${base}/my-plugin`);
  t.equal(answer.status, 200);
  t.same(await answer.json(), { text: 'Hello', started: 0 });
});
