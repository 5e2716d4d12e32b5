// The curves of the charts as time goes on: over the chosen span, after a change of the clock, and with slow answers.
import { existsSync } from 'node:fs';
import t from 'tap';
import type { ChartAnswer, Sample } from '../../../plugins/console/page/wire.ts';

const place = (name: string) => new URL(`../../../plugins/console/page/${name}.ts`, import.meta.url);
const isHere = existsSync(place('metrics'));

t.test('curves', { skip: !isHere }, async t => {
  const { SampleSeries } = (await import(
    place('sample-series').href
  )) as typeof import('../../../plugins/console/page/sample-series.ts');
  // Its types are those of a browser.
  const { Metrics } = await import(place('metrics').href);

  await t.test('reach back as far as is chosen', async t => {
    const series = new SampleSeries();
    series.replace(kept([100, 130, 160]), 900);
    for (let time = 190; time <= 3_600; time += 30) series.add(sampleAt(time));
    t.equal(series.times[0], 2_680);
    t.equal(series.times.length, 31);
    t.equal(series.of('cpu').length, 31);
    t.equal(series.of('net_recv_rate').at(-1), 1);
  });

  await t.test('reach back over a week, however long the page is open', async t => {
    const series = new SampleSeries();
    const [spanS, now] = [604_800, 1_000_000];
    const past = kept(Array.from({ length: 1_009 }, (_, index) => now - spanS + index * 600));
    series.replace({ ...past, bucket_seconds: 600 }, spanS);
    for (let time = now; time <= now + 50_000; time += 2) series.add(sampleAt(time));
    const { times } = series;
    t.equal(times[0], now + 50_000 - spanS + 400, 'the first point of the history that is not too old');
    t.equal(times.at(-1), now + 50_000, 'the newest sample');
    t.ok(times.length < 3_000, `${times.length} points`);
    t.notOk(series.of('cpu').includes(null), 'what is left out makes no gap');
    for (let time = now + 50_031; time < now + 1_000_000; time += 31) series.add(sampleAt(time));
    t.ok(times.length < 20_000, `${times.length} points after some days`);
  });

  await t.test('go on when the clock is set back', async t => {
    const series = new SampleSeries();
    for (const time of [5_000, 5_002, 5_004, 1_000, 1_002, 1_002]) series.add(sampleAt(time));
    t.same(series.times, [1_000, 1_002]);
    t.same(series.of('disk_read_rate'), [null, 1]);
    series.replace(kept([900, 1_002]), 900);
    series.add(sampleAt(1_001));
    t.equal(series.times.at(-1), 1_001);
    t.ok(series.times.every((time, index) => time > (series.times[index - 1] ?? 0)));
  });

  await t.test('are those of the span that was chosen last', async t => {
    const answers: ((answer: ChartAnswer) => void)[] = [];
    const api = { find: () => new Promise<ChartAnswer>(resolve => answers.push(resolve)) };
    const metrics = new Metrics(api);
    const reads = [metrics.readHistory(604_800), metrics.readHistory(900)];
    answers[1]?.(kept([100, 130]));
    answers[0]?.(kept([10, 20, 30]));
    t.same(await Promise.all(reads), [true, true]);
    t.same(metrics.series.times, [100, 130]);
  });
});

function kept(timestamps: number[]): ChartAnswer {
  return { timestamps, series: { cpu: timestamps.map(() => 1) }, bucket_seconds: null } as unknown as ChartAnswer;
}

/** All counters grow by one each second. */
function sampleAt(time: number): Sample {
  return {
    timestamp: time,
    system: {
      cpu_percent: 1,
      mem: { percent: 1 },
      disk_io: { read_bytes: time, write_bytes: time },
      net_io: { recv_bytes: time, sent_bytes: time },
      filesystems: [],
    },
    dumb_managed: [],
  } as unknown as Sample;
}
