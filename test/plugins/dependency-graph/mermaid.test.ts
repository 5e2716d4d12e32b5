// Labels of the drawn graph hold names in every alphabet, without characters that Mermaid interprets.
import t from 'tap';
import { mermaid } from '../../../plugins/dependency-graph/mermaid.ts';

t.test('labels keep letters of every alphabet, and lose syntax of Mermaid', async t => {
  const drawn = async (name: string) => {
    const host = { get: async () => ({ nodes: [{ process_name: name, state: 'running' }], edges: [] }) };
    return mermaid(host as never, { name, scope: 'runtime' });
  };
  for (const name of ['Radarr हिन्दी', 'ภาพยนตร์', '电影', 'Séries (4K)'])
    t.match(await drawn(name), `n1["${name}<br/>running"]`);
  t.match(await drawn('a"]\n<b>{c}|d'), 'n1["a    b  c  d<br/>running"]');
});
