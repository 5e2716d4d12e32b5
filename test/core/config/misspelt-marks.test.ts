// A misspelt mark of a schema is refused: the secret that it was to protect would be shown.
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

t.test('a misspelt mark is refused with its place, and the known mark is told', async t => {
  const app = await startWithPlugins(t, {
    section: {
      more: `config: z =>
        z.object({ list: z.array(z.object({ key: z.string().meta({ secrt: true }) })).default([]) }),`,
      setup: '',
    },
    live: { more: `config: z => z.object({ size: z.number().default(1).meta({ lvie: true }) }),`, setup: '' },
    keys: `host.contribute('config.block', 'keys', { schema: host.z.object({
      api_key: host.z.string().optional().meta({ decideProgram: true }) }) })`,
    part: `host.contribute('config.schema', 'part', { path: ['dumb', 'elsewhere'], schema: host.z.object({
      word: host.z.string().optional().meta({ exampels: ['x'] }) }) })`,
    purposely: {
      more: `config: z =>
        z.object({ word: z.string().default('').meta({ example: 'x', examples: ['x'], unit: 'm' }) }),`,
      setup: '',
    },
  });
  const reasons = app.host.plugins().map(({ name, reason }) => [name, reason]);
  t.match(Object.fromEntries(reasons), {
    keys: /^'api_key' of the schema of the keys of blocks of keys has no 'decidesProgram' but 'decideProgram'; write /,
    part: "'word' of the schema of dumb.elsewhere of part has no 'examples' but 'exampels'; write 'examples'",
    section: "'key' of 'list' of the schema of dumb.section of section has no 'secret' but 'secrt'; write 'secret'",
    live: "'size' of the schema of dumb.live of live has no 'live' but 'lvie'; write 'live'",
    purposely: null,
  });
});
