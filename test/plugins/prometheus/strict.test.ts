// The whole output of the Prometheus exporter, read by a strict parser: each family and each series is there once, and
// no series has the name of another family's, whatever plugins export and services are called.
import t from 'tap';
import { exposition } from '../../../plugins/prometheus/exposition.ts';
import { kid } from '../../support/kids.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

const SERIES = /^([a-z][a-z0-9_]*)(?:\{((?:[a-z][a-z0-9_]*="(?:[^"\\\n]|\\[\\n"])*",?)+)\})? (\S+)$/;
const LABEL = /([a-z][a-z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"/g;
const NUMBER = /^(?:[+-]?Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const KEPT = { gauge: [], counter: ['_total', '_created'] };

/** Gives the series. Throws an Error for the first line that the formats do not allow. */
function parsed(text: string, isOpen: boolean): ReadonlyMap<string, number> {
  const lines = text.split('\n');
  const fail = (what: string) => {
    throw new Error(what);
  };
  if (lines.pop() !== '') fail('the last line is not ended');
  if (isOpen && lines.pop() !== '# EOF') fail('no EOF');
  const owners = new Map<string, string>();
  const series = new Map<string, number>();
  let [helped, family, type] = ['', '', ''];
  for (const line of lines) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ([^\n]*)$/.exec(line) ?? [];
    if (word === 'HELP') helped = name;
    else if (word === 'TYPE') {
      if (name !== helped || name === family) fail(`no help: ${line}`);
      if (rest !== 'gauge' && rest !== 'counter') return fail(`no type: ${line}`);
      [family, type] = [name, rest];
      for (const end of isOpen ? ['', ...KEPT[rest]] : [''])
        if ((owners.get(name + end) ?? name) !== name || (end === '' && owners.has(name))) fail(`twice: ${line}`);
        else owners.set(name + end, name);
    } else {
      const [, shown = '', labels = '', value = ''] = SERIES.exec(line) ?? fail(`no series: ${line}`) ?? [];
      const wanted = isOpen && type === 'counter' ? `${family}_total` : family;
      if (shown !== wanted) fail(`not of ${family}: ${line}`);
      if (!NUMBER.test(value)) fail(`no number: ${line}`);
      const pairs = [...labels.matchAll(LABEL)].map(([pair]) => pair);
      const key = `${shown}{${pairs.toSorted().join(',')}}`;
      if (new Set(pairs.map(pair => pair.split('=')[0])).size !== pairs.length) fail(`a label twice: ${line}`);
      if (series.has(key)) fail(`a series twice: ${line}`);
      series.set(key, Number(value));
    }
  }
  return series;
}

const THIRD = `
  const one = (name, type, labels = {}) => ({ name, help: 'a\\\\b "c"\\nd\\re', type, samples: [{ labels, value: 1 }] });
  const add = (key, ...told) => host.contribute('prometheus.metrics', key, { families: () => told });
  add('fine', one('bells', 'counter', { a: 'x', b: 'y' }), one('bells', 'counter', { b: 'y', a: 'x' }));
  add('later', one('bells', 'gauge', { a: '\\u0000\\u0007\\r\\n\\t\\u2028\\u0085"\\\\' }));
  add('total', one('bells_total', 'gauge'));
  add('twice', one('knocks_total', 'counter'));
  add('created', one('bells_created', 'gauge'));
`;

t.test('each family and series is there once', async t => {
  const app = await startWithPlugins(
    t,
    { third: THIRD },
    {
      shipped: [
        'config',
        'logs',
        'process',
        'auto-restart',
        'metrics',
        'notifications',
        'notify-webhook',
        'prometheus',
      ],
      config: { odd: kid('Odd "one" \\ n', ['calm']), long: kid('L'.repeat(300), ['calm']) },
    },
  );
  for (const accept of ['text/plain', 'application/openmetrics-text']) {
    const answer = await fetch(`${app.base}/metrics/prometheus`, { headers: { accept } });
    const series = parsed(await answer.text(), accept !== 'text/plain');
    t.equal(series.get('stackwarden_bells_total{a="x",b="y"}'), 1, accept);
    t.ok(series.size > 20, accept);
    t.notOk([...series.keys()].some(key => key.includes('total_total') || key.includes('_created')));
  }
  const reason = /third: .*families.*its end, _total or _created, belongs to counters; leave it out/;
  t.match((await app.get('/logs?process_name=DUMB%20API')).text, reason, 'the log says why');
});

t.test('labels in another order are the same series', async t => {
  const samples = [
    { labels: { a: '1', b: '2' }, value: 1 },
    { labels: { b: '2', a: '1' }, value: 2 },
  ];
  const text = exposition([{ name: 'bells', help: '', type: 'gauge', samples }], 'prometheus');
  t.same([...parsed(text, false)], [['stackwarden_bells{a="1",b="2"}', 2]]);
});
