// Misspelt members of what a plugin registers, which would have no effect, are refused with the name that was meant.
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

const HANDLE = 'handle: () => ({})';

t.test('a misspelt member is refused, and the known name is told', async t => {
  const setups = {
    route: `host.route({ method: 'GET', path: '/slow', summary: 'x', deadlineMS: 5, ${HANDLE} })`,
    stream: `host.stream({ path: '/ws/late', summary: 'x', acess: 'public', open () {} })`,
    jobs: `await host.jobs('work', { run () {}, concurency: 2 })`,
    keep: `await host.jobs('work', { run () {}, keep: { records: 5, perkey: true } })`,
    schedule: `host.cron('0 0 * * *', () => {}, { timezone: 'Europe/Berlin' })`,
    tap: `host.tap('config.changed', () => {}, { stag: 5 })`,
    hook: `host.hook('moment', 'series', { gaurded: false })`,
    service: `host.provide('thing', {}, { mayfail: true })`,
    point: `host.point('others', { schema: host.z.any(), imediate: ['ask'] })`,
    database: `host.database('own', { statements: 'statements', readonly: true })`,
    call: `await host.database('own', { statements: 'index' }).call('one', {}, { timeoutms: 5 })`,
    job: `await (await host.jobs('work', { run () {} })).start('one', undefined, { qeue: false })`,
    request: `await host.fetch('http://127.0.0.1:1', { timeoutMS: 1 })`,
    contribution: `host.contribute('things', 'one', { name: 'one', deadlinems: 5, ask () {} })`,
    nested: `host.contribute('things', 'two', {
      name: 'two', ask () {}, parts: [{ size: 1 }, { size: 1, lable: 'x' }] })`,
    block: `host.contribute('config.block', 'keys', { schema: host.z.object({}), appliesto: ['thing'] })`,
  };
  const app = await startWithPlugins(t, {
    owner: `host.point('things', { schema: host.z.looseObject({
      name: host.z.string(),
      deadlineMs: host.z.number().optional(),
      ask: host.z.any(),
      parts: host.z.array(
        host.z.looseObject({ size: host.z.number(), label: host.z.string().optional() })).optional() }) })`,
    ...setups,
    purposely: `class Thing {
          name = 'class'
          deadlinems = 5
          ask () {}
        }
        host.contribute('things', 'class', new Thing())
        host.contribute('things', 'more', { name: 'more', deadlineMs: 5, deadlinesMs: {}, shape: 'round', ask () {} })
        host.route({ method: 'GET', path: '/fine', summary: 'x', note: 'of its own', ${HANDLE} })`,
  });
  const reasons = app.host.plugins().map(({ name, reason }) => [name, reason]);
  t.match(Object.fromEntries(reasons), {
    route: "the route GET /slow of route has no 'deadlineMs' but 'deadlineMS'; write 'deadlineMs'",
    stream: "the stream /ws/late of stream has no 'access' but 'acess'; write 'access'",
    jobs: "the kind of jobs 'work' of jobs has no 'concurrency' but 'concurency'; write 'concurrency'",
    keep: "'keep' of the jobs 'work' of keep has no 'perKey' but 'perkey'; write 'perKey'",
    schedule: "the schedule '0 0 * * *' of schedule has no 'timeZone' but 'timezone'; write 'timeZone'",
    tap: "the tap of tap on config.changed has no 'stage' but 'stag'; write 'stage'",
    hook: "hook 'moment' of hook has no 'guarded' but 'gaurded'; write 'guarded'",
    service: "service 'thing' of service has no 'mayFail' but 'mayfail'; write 'mayFail'",
    point: "point 'others' of point has no 'immediate' but 'imediate'; write 'immediate'",
    database: "the database 'own' of database has no 'readOnly' but 'readonly'; write 'readOnly'",
    call: "the call of one has no 'timeoutMs' but 'timeoutms'; write 'timeoutMs'",
    job: "the request of a job 'work' has no 'queue' but 'qeue'; write 'queue'",
    request: "the request has no 'timeoutMs' but 'timeoutMS'; write 'timeoutMs'",
    contribution: "things 'one' of contribution has no 'deadlineMs' but 'deadlinems'; write 'deadlineMs'",
    nested: "an entry of 'parts' of things 'two' of nested has no 'label' but 'lable'; write 'label'",
    block: "config.block 'keys' of block has no 'appliesTo' but 'appliesto'; write 'appliesTo'",
    owner: null,
    purposely: null,
  });
});
